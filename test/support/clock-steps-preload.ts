/**
 * Loaded with `node --import` into the command line: sets the clock of its process forward or back, again and
 * again, by up to an hour. Volley does not know about it.
 */

const longestStep = 3_600_000;
const RealDate = Date;
let ahead = 0;

globalThis.Date = class extends RealDate {
  constructor(...words: [] | [string | number | Date]) {
    if (words.length === 0) super(RealDate.now() + ahead);
    else super(...words);
  }
  static override now(): number {
    return RealDate.now() + ahead;
  }
} as DateConstructor;

setInterval(() => {
  ahead = Math.round((Math.random() * 2 - 1) * longestStep);
}, 500).unref();
