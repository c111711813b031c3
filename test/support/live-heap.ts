import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Bytes of the heap that something still refers to. */
export function liveHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
