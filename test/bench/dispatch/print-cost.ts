import { readFileSync, writeSync } from 'node:fs';

/**
 * Prints peak memory (bytes) and processor time (microseconds) of a command to standard error at its end.
 * `resourceUsage` may include the peak of the parent, so on Linux `/proc` is read.
 */
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeSync(2, `peak ${peakBytes()} cpu ${user + system}\n`);
});

function peakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const kibibytes = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}
