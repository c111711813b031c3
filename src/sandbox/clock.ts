/** The time of the sandbox, which may run faster than that of the machine. */
export type Clock = {
  readonly now: () => Date;
  /** How many of its milliseconds pass in one of the machine's. */
  readonly speed: number;
  /** Acts after so many milliseconds of this clock, however many they are. @returns a way to call it off */
  readonly schedule: (milliseconds: number, act: () => void) => () => void;
  /** Calls everything off. */
  readonly close: () => void;
};

/** The longest wait of a timer (milliseconds): 24.8 days. */
const maxTimerDelay = 2 ** 31 - 1;

/** @param machineTime what the clock of the machine says, from which this one starts */
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
