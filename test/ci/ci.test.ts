import { execFile } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { projectFolder } from '../support/documents.ts';
import { makeWorkspace } from '../support/workspace.ts';

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string(), dev: z.boolean().optional(), devOptional: z.boolean().optional() }),
  ),
});

/** Runs a script of CI. `npm` is then a program that prints these lines, and ends like npm. */
async function runScript(name: string, npmPrints?: string): Promise<{ code: number; output: string }> {
  await using workspace = await makeWorkspace({ npm: `#!/bin/sh\ncat <<'END'\n${npmPrints}\nEND\nexit 1\n` });
  await chmod(join(workspace.folder, 'npm'), 0o755);
  const folders = npmPrints === undefined ? [] : [workspace.folder];
  const script = join(projectFolder, '.ci', name);
  const env = { ...process.env, PATH: [...folders, process.env['PATH']].join(':') };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script], {
      cwd: projectFolder,
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stderr } = Object(error);
    return { code, output: String(stderr) };
  }
}

const checkSignatures = (npmPrints: string) => runScript('check-signatures.cjs', npmPrints);

test('CI fails for a package with a wrong signature, and names it', async () => {
  const invalid = [{ name: 'yaml', version: '2.9.1', code: 'EINTEGRITYSIGNATURE' }];
  const { code, output } = await checkSignatures(JSON.stringify({ invalid, missing: [] }));
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('"yaml"') });
});

test('CI does not fail where the registry serves no signatures or cannot be reached', async () => {
  const unreachable = JSON.stringify({ error: { code: 'ENOTFOUND', summary: 'the name is unknown' } });
  expect(await checkSignatures(unreachable)).toEqual({
    code: 0,
    output: 'signatures: not checked: the name is unknown\n',
  });
  expect(await checkSignatures('')).toEqual({
    code: 0,
    output: 'signatures: not checked: npm gave no answer\n',
  });
  const missing = [{ name: 'yaml', version: '2.9.1' }];
  expect(await checkSignatures(JSON.stringify({ invalid: [], missing }))).toEqual({
    code: 0,
    output: 'signatures: none is wrong, 1 are missing\n',
  });
});

test('the list of what users install has Volley, and each of their packages with licence and checksum', async () => {
  const { components, metadata } = JSON.parse((await runScript('write-sbom.cjs')).output);
  expect(metadata.component).toMatchObject({ name: '@volley-engine/volley' });
  const { packages } = lockFile.parse(
    JSON.parse(await readFile(join(projectFolder, 'package-lock.json'), 'utf8')),
  );
  const installed = Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
  const listed = components.map(({ name, version }: Record<string, string>) => `${name}@${version}`);
  expect(listed.toSorted()).toEqual([...new Set(installed)].toSorted());
  for (const component of components)
    expect(component).toMatchObject({ licenses: [expect.anything()], hashes: [expect.anything()] });
});
