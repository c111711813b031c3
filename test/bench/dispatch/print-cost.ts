import { readFileSync, writeSync } from 'node:fs';

/**
 * Loaded into a command before it starts: as it ends, the peak of its resident memory (bytes) and its processor time
 * (microseconds) go to standard error. Linux says the peak in `/proc`; what `resourceUsage` says may be the parent's, from
 * before the child was itself.
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
