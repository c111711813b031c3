import type { IncomingMessage, ServerResponse } from 'node:http';

declare module 'node:http' {
  interface IncomingMessage {
    /** Whose share its body counts in. A WeakMap instead would slow down the garbage collector. */
    callerName?: string;
  }
}

/** Counts the body in the share of this caller. Without it, it counts in the share of all unknown callers. */
export function nameCaller({ raw }: { readonly raw: IncomingMessage }, caller: string): void {
  raw.callerName = caller;
}

export type ArrivingBodies = ReturnType<typeof countArrivingBodies>;

/**
 * A body that arrives byte by byte holds a connection, which other callers need too.
 *
 * @param share bodies of one caller that may arrive at once
 */
export function countArrivingBodies(share: number, onCutOff: (caller: string) => void) {
  /** The longest first, in both. */
  const all = new Set<IncomingMessage>();
  const ofCallers = new Map<string, Set<IncomingMessage>>();
  const callerOf = (request: IncomingMessage): string => request.callerName ?? 'unknown';
  const remove = (request: IncomingMessage): void => {
    all.delete(request);
    const own = ofCallers.get(callerOf(request));
    own?.delete(request);
    if (own?.size === 0) ofCallers.delete(callerOf(request));
  };
  const removeArrived = (requests: Iterable<IncomingMessage>): void => {
    for (const request of requests) if (request.complete) remove(request);
  };
  const cutOffFirst = ([longest]: Iterable<IncomingMessage>): IncomingMessage | undefined => {
    if (!longest) return undefined;
    remove(longest);
    longest.destroy();
    onCutOff(callerOf(longest));
    return longest;
  };
  return {
    /** Counts a body from now on. Beyond the share of its caller, the body that has been arriving longest is cut off. */
    add: (request: IncomingMessage, response: ServerResponse): void => {
      const own = ofCallers.get(callerOf(request)) ?? new Set();
      ofCallers.set(callerOf(request), own);
      all.add(request);
      own.add(request);
      response.once('close', () => remove(request));
      if (own.size > share) removeArrived(own);
      if (own.size > share) cutOffFirst(own);
    },
    /** Cuts off the body that has been arriving longest. @returns its request, if there is one */
    cutOffLongest: () => {
      removeArrived(all);
      return cutOffFirst(all);
    },
  };
}
