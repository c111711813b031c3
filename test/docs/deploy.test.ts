import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { projectFolder, readDocument } from '../support/documents.ts';
import { parseCommands } from '../support/shell-words.ts';
import { refusalOf } from './refusal.ts';

describe('compose.yaml', () => {
  const service = z.object({
    image: z.string(),
    command: z.array(z.coerce.string()).optional(),
    ports: z.array(z.string()).default([]),
    volumes: z.array(z.string()).default([]),
    environment: z.record(z.string(), z.string()).default({}),
    read_only: z.boolean().default(false),
    user: z.string().optional(),
  });
  const { services, volumes } = z
    .object({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.unknown()) })
    .parse(parse(readDocument('docs/deploy/compose.yaml'), { merge: true }));
  const own = Object.entries(services).filter(([, { image }]) => image === 'volley');

  test('has Postgres, serve, a worker and the sandbox', () => {
    expect(Object.keys(services)).toEqual(['postgres', 'migrate', 'serve', 'worker', 'sandbox']);
  });

  test.each(own)('gives the service %s a command that the program accepts', async (_, { command = [] }) => {
    expect(await refusalOf(command)).toBeUndefined();
  });

  test.each(own)('runs the service %s without root, with nothing writable but its volume', (_, found) => {
    expect(found).toMatchObject({ user: '1000:1000', read_only: true });
    expect(found.volumes).toEqual(['./campaigns:/srv/volley/campaigns:ro', 'state:/var/lib/volley']);
  });

  test('publishes ports on this machine only, and names every volume', () => {
    const ports = Object.values(services).flatMap(({ ports }) => ports);
    expect(ports).toEqual(['127.0.0.1:8026:8026', '127.0.0.1:8027:8027']);
    const named = Object.values(services)
      .flatMap(({ volumes: mounts }) => mounts)
      .filter((mount) => !mount.startsWith('.'));
    expect(new Set(named.map((mount) => mount.split(':')[0]))).toEqual(new Set(Object.keys(volumes)));
  });

  test('takes every secret from the environment, and names a service as the address of another', () => {
    const { DATABASE_URL, VOLLEY_SANDBOX_URL, ...tokens } = services['serve']?.environment ?? {};
    expect(DATABASE_URL).toMatch(/^postgres:\/\/volley:\$\{POSTGRES_PASSWORD:\?.*\}@postgres\/volley/);
    expect(VOLLEY_SANDBOX_URL).toBe('http://sandbox:8025');
    for (const [name, value] of Object.entries(tokens)) expect(value).toBe(`\${${name}:?set it in .env}`);
  });
});

test('images of others are named by their digest, and no command line has a secret', () => {
  const named = [
    ...readDocument('docs/deploy/compose.yaml').matchAll(/^ *image: (?!volley$)(.+)$/gm),
    ...readDocument('docs/deploy/Containerfile').matchAll(/^FROM (\S+)/gm),
  ].map(([, image]) => image);
  expect(named).toHaveLength(3);
  for (const image of named) expect(image).toMatch(/^docker\.io\/library\/[\w:.-]+@sha256:[0-9a-f]{64}$/);
  expect(readDocument('docs/deploy/compose.yaml')).not.toMatch(/command:[^#]*?\$\{[^}]*TOKEN/);
});

describe('the Containerfile', () => {
  const lines = readDocument('docs/deploy/Containerfile').replaceAll('\\\n', ' ').split('\n');
  const valuesOf = (instruction: string): string[] =>
    lines.flatMap((line) =>
      line.startsWith(`${instruction} `) ? line.slice(instruction.length + 1).trim() : [],
    );

  test('copies files that the checkout has', () => {
    const copied = valuesOf('COPY')
      .filter((value) => !value.startsWith('--from'))
      .flatMap((value) => value.split(/\s+/).slice(0, -1));
    expect(copied).toContain('migrations');
    expect(copied.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  });

  test('starts serve without root, on ports that it exposes', async () => {
    const words = z.array(z.string()).parse(JSON.parse(valuesOf('CMD').at(-1) ?? ''));
    expect(await refusalOf(words)).toBeUndefined();
    expect(valuesOf('USER')).toEqual(['1000:1000']);
    expect(valuesOf('EXPOSE').join(' ').split(' ')).toEqual(['8026', '8027', '9026']);
    expect(JSON.parse(valuesOf('ENTRYPOINT')[0] ?? '')).toEqual(['volley']);
  });

  test('links the command of the package', () => {
    const { bin } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));
    expect(valuesOf('RUN').join('\n')).toContain(`ln -s /opt/volley/${bin.volley} `);
  });
});

describe('volley.service', () => {
  const unit = readDocument('docs/deploy/volley.service');
  const settingOf = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

  test('starts the command that the page installs', async () => {
    const words = parseCommands(settingOf('ExecStart')).flatMap((command) => command.words);
    expect(words.slice(0, 2)).toEqual(['/usr/bin/node', '/opt/volley/node_modules/.bin/volley']);
    expect(await refusalOf(words.slice(2))).toBeUndefined();
    const page = readDocument('docs/how-to/deployment.md');
    expect(page).toContain('npm install --prefix /opt/volley ');
    for (const path of [settingOf('EnvironmentFile'), settingOf('WorkingDirectory')])
      expect(page).toContain(path);
  });

  test('allows as long to stop as the page says', () => {
    expect(readDocument('docs/how-to/deployment.md').replaceAll(/\s+/g, ' ')).toContain(
      `of the ${settingOf('TimeoutStopSec')} that systemd allows`,
    );
  });
});
