import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Bytes in use after a garbage collection. */
export function liveHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
