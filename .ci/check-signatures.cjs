// Fails if the registry's signature of an installed package is wrong. Not every registry serves signatures, so no answer
// is only reported.
const { spawnSync } = require('node:child_process');

// Without retries, npm gives up after seconds where there is no network.
const words = ['audit', 'signatures', '--json', '--fetch-retries=0', '--fetch-timeout=10000'];
const { stdout } = spawnSync('npm', words, {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  timeout: 120_000,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const { invalid, missing, error } = parse(stdout);
if (invalid === undefined) console.log(`signatures: not checked: ${error?.summary ?? 'npm gave no answer'}`);
else if (invalid.length > 0) {
  console.error('signatures: wrong', JSON.stringify(invalid, null, 2));
  process.exitCode = 1;
} else console.log(`signatures: none is wrong, ${missing?.length ?? 0} are missing`);

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
