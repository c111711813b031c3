/** The sandbox's clock, which may run faster than the machine's. */
export type Clock = ReturnType<typeof openClock>;

/** The longest delay of a timer, in milliseconds: 24.8 days. */
const maxTimerDelay = 2 ** 31 - 1;

/** @param machineTime where this clock starts @param speed its milliseconds per millisecond of the machine */
export function openClock(machineTime: () => Date, speed: number) {
  const start = machineTime().getTime();
  const timers = new Set<() => void>();
  return {
    speed,
    now: (): Date => new Date(start + (machineTime().getTime() - start) * speed),
    /** Waits any number of milliseconds of this clock. @returns cancels the action */
    schedule(milliseconds: number, action: () => void): () => void {
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
    close(): void {
      for (const cancel of timers) cancel();
    },
  };
}
