import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const cache = fileURLToPath(new URL('../../node_modules/.cache/volley', import.meta.url));
const unpacked = join(cache, 'browser');

let shared: Promise<Browser> | undefined;

/**
 * The browser of this process, for one test file after the other. It ends with the process; a file closes its pages.
 *
 * Chromium, its libraries and a font come with `npm ci` and are unpacked once into `node_modules`. They need Linux
 * on x64; VOLLEY_TEST_BROWSER names another Chromium.
 */
export function openBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

export async function closePages(): Promise<void> {
  for (const context of (await shared)?.contexts() ?? []) await context.close();
}

async function launch(): Promise<Browser> {
  const own = process.env['VOLLEY_TEST_BROWSER'];
  if (own) return chromium.launch({ executablePath: own });
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The browser of the tests is for Linux on x64; name a Chromium in VOLLEY_TEST_BROWSER.');
  }
  if (!existsSync(unpacked)) await unpack();
  return chromium.launch({
    executablePath: join(unpacked, 'chromium'),
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(unpacked, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(unpacked, 'fonts.conf'),
    },
  });
}

/**
 * In its own process, because it unpacks into the folder for temporary files. Renames at the end, so that it is
 * complete or missing.
 */
async function unpack(): Promise<void> {
  const folder = `${unpacked}.${process.pid}`;
  await mkdir(folder, { recursive: true });
  // The libraries are unpacked only for AWS Lambda, but work anywhere.
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };
  const program = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`;
  await promisify(execFile)(process.execPath, ['-e', program], { cwd: cache, env });
  await writeFile(
    join(folder, 'fonts.conf'),
    `<?xml version="1.0"?><fontconfig><dir>${join(unpacked, 'fonts')}</dir><cachedir>${join(unpacked, 'fonts-cache')}</cachedir></fontconfig>`,
  );
  await rename(folder, unpacked).catch(() => rm(folder, { recursive: true }));
}
