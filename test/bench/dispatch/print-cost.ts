import { writeSync } from 'node:fs';
import { peakBytes } from './processor-time.ts';

/**
 * Prints peak memory (bytes) and processor time (microseconds) of a command to standard error at its end.
 * `resourceUsage` may include the peak of the parent, so on Linux `/proc` is read.
 */
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const peak = process.platform === 'linux' ? peakBytes('self') : process.resourceUsage().maxRSS * 1024;
  writeSync(2, `peak ${peak} cpu ${user + system}\n`);
});
