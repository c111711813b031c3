/** One at a time, first come, first served. */
export type Turns = {
  /** @returns whether the turn came; false when `stop` came first. Whoever has it must `pass` it on. */
  readonly take: (stop: AbortSignal) => Promise<boolean>;
  readonly pass: () => void;
};

export function openTurns(): Turns {
  const waiting = new Set<() => void>();
  let taken = false;
  return {
    take: async (stop) => {
      if (stop.aborted) return false;
      if (!taken) {
        taken = true;
        return true;
      }
      return new Promise<boolean>((resolve) => {
        const come = (): void => {
          stop.removeEventListener('abort', leave);
          resolve(true);
        };
        const leave = (): void => {
          waiting.delete(come);
          resolve(false);
        };
        waiting.add(come);
        stop.addEventListener('abort', leave, { once: true });
      });
    },
    pass: () => {
      const [next] = waiting;
      if (!next) {
        taken = false;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}
