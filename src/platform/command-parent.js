// Runs the program of its words with the input, outputs and environment that it has itself, and writes how it ended to file 3,
// nothing where it ended with 0. Plain JavaScript: it starts in half the time.
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';

// The whole process group is asked to end; the program decides when.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});

const [program, ...words] = process.argv.slice(2);
const child = spawn(program, words, { stdio: 'inherit' });
child.once('error', (error) => writeSync(3, `could not be started (${error.code ?? error.name})`));
child.once('exit', (code, signal) => {
  if (code !== 0) writeSync(3, signal === null ? `ended with ${code}` : `was ended by ${signal}`);
});
