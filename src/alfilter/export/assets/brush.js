"use strict";
// The hand that holds a brush: dabs along the way, more of them while it is held still, and what its sliders mean. The
// live page and the exported one share it.

/* exported Gesture, brushRadius, brushAmount */

const HELD = 130; // milliseconds between two dabs of a brush that is held still

// Places on the sliders, from 0 to 1: the radius in samples, and what a dab adds to α at most, in channels or levels.
function brushRadius(share, longest, least = 3) {
  return least * Math.max(longest / 3 / least, 4 / 3) ** share;
}

function brushAmount(share, axis) {
  return 0.0016 * axis * 160 ** share;
}

class Gesture {
  // radius: says the brush's radius. put: takes the place of a dab (column and row) and the name of its gesture.
  constructor({ radius, put }) {
    Object.assign(this, { radius, put, active: false, name: null });
  }

  begin(place) {
    this.name = `${Date.now()}-${Math.random()}`; // kept by every dab: those of one gesture are undone together
    this.active = true;
    clearInterval(this.timer);
    this.dab(place);
    this.timer = setInterval(() => this.dab(this.at), HELD);
  }

  // Dabs a third of the radius apart on the way from the last one to the pointer. `at` stays at the last dab, up to a
  // third of the radius behind the pointer: moved on to it, many short moves would leave no dab at all. After a jump of
  // more than 64 dabs the rest of the way is left to the next move.
  to(place) {
    if (!this.active) return;
    const gap = this.radius() / 3, [x, y] = this.at, away = Math.hypot(place[0] - x, place[1] - y);
    for (let k = 1; k <= Math.min(64, Math.floor(away / gap)); k++) this.dab([x + ((place[0] - x) * k * gap) / away, y + ((place[1] - y) * k * gap) / away]);
  }

  dab(place) {
    this.at = place;
    this.put(place, this.name);
  }

  end() {
    clearInterval(this.timer);
    this.active = false;
  }

  once(place) {
    this.begin(place);
    this.end();
  }
}
