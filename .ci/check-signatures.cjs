// Fails if the registry's signature of an installed package is wrong. Not every registry serves signatures, so no answer
// within 20 seconds is only reported.
const { spawnSync } = require('node:child_process');

const { stdout } = spawnSync('npm', ['audit', 'signatures', '--json'], {
  encoding: 'utf8',
  timeout: 20_000,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const { invalid } = parse(stdout);
if (invalid === undefined) console.log('signatures: the registry did not answer');
else if (invalid.length === 0) console.log('signatures: none is wrong');
else {
  console.error('signatures: wrong', JSON.stringify(invalid, null, 2));
  process.exitCode = 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
