import { liveHeap } from './live-heap.ts';

/** Preloaded into a process: on this signal it prints the bytes in use after a garbage collection. */
process.on('SIGUSR2', () => process.stderr.write(`live heap: ${liveHeap()}\n`));
