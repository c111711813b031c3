export type TestClock = {
  readonly now: () => Date;
  /** Never back. */
  readonly jumpTo: (time: Date) => void;
  /** In seconds. */
  readonly advance: (seconds: number) => void;
};

export function startClock(at: string): TestClock {
  let ahead = Date.parse(at) - performance.now();
  const now = (): number => performance.now() + ahead;
  return {
    now: () => new Date(now()),
    jumpTo: (time) => {
      ahead += Math.max(0, time.getTime() - now());
    },
    advance: (seconds) => {
      ahead += seconds * 1_000;
    },
  };
}
