/** The sandbox's clock, which may run faster than the machine's. */
export type Clock = {
  readonly now: () => Date;
  /** Sandbox milliseconds per machine millisecond. */
  readonly speed: number;
  /** Waits any number of sandbox milliseconds. @returns cancels the action */
  readonly schedule: (milliseconds: number, act: () => void) => () => void;
  readonly close: () => void;
};

/** The longest delay of a timer, in milliseconds: 24.8 days. */
const maxTimerDelay = 2 ** 31 - 1;

/** @param machineTime where this clock starts */
export function openClock(machineTime: () => Date, speed: number): Clock {
  const start = machineTime().getTime();
  const timers = new Set<() => void>();
  return {
    speed,
    now: () => new Date(start + (machineTime().getTime() - start) * speed),
    schedule(milliseconds, action) {
      let remaining = Math.max(0, milliseconds / speed);
      let timer: NodeJS.Timeout;
      const cancel = (): void => {
        clearTimeout(timer);
        timers.delete(cancel);
      };
      const wait = (): void => {
        const delay = Math.min(remaining, maxTimerDelay);
        remaining -= delay;
        timer = setTimeout(() => {
          if (remaining > 0) return wait();
          timers.delete(cancel);
          action();
        }, delay);
      };
      timers.add(cancel);
      wait();
      return cancel;
    },
    close() {
      for (const cancel of timers) cancel();
    },
  };
}
