import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { FirstCampaign } from '../../campaign/first-campaign.ts';
import { ignored } from '../../engine/project/project-files.ts';
import type { WrittenFile } from '../../engine/project/write-files.ts';
import { readEnvFiles } from '../../platform/env-files.ts';
import { type Screen, styled } from '../../report/screen.ts';
import type { Shell } from '../shell.ts';
import { sandboxAccount } from './choose-first-campaign.ts';

export function fileLines(files: readonly WrittenFile[], screen: Screen): string[] {
  const width = Math.max(0, ...files.map(({ path }) => path.length));
  return files.map(({ path, what, made }) =>
    made
      ? `  ${styled('made', 'good', screen)}  ${path.padEnd(width)}  ${what}`
      : `  ${styled('kept', 'doubtful', screen)}  ${path.padEnd(width)}  it was there`,
  );
}

/** What the project still needs from its user. */
export function adviceLines({ settings }: Shell, folder: string, files: readonly WrittenFile[]): string[] {
  const lines: string[] = [];
  if (files.some(({ path, made }) => path === '.gitignore' && !made)) {
    const known = readFileSync(join(folder, '.gitignore'), 'utf8').split(/\r?\n/);
    const missing = ignored.filter((line) => !known.includes(line));
    if (missing.length > 0) lines.push('', 'Add to .gitignore:', ...missing.map((line) => `  ${line}`));
  }
  if (!existsSync(join(folder, '.env')) && existsSync(join(folder, '.env.example')))
    lines.push('', '.env is missing. Copy .env.example to it, and fill it in: cp .env.example .env');
  const { variables } = readEnvFiles(folder);
  const onlyHere = ['DATABASE_URL', 'VOLLEY_HOME', 'VOLLEY_ACCOUNTS'].filter(
    (name) => settings.environment[name] && !Object.hasOwn(variables, name),
  );
  if (onlyHere.length > 0 && files.length > 0)
    lines.push(
      '',
      `${onlyHere.join(', ')}: set in this shell only. For cron and other shells, write it into .env.`,
    );
  return lines;
}

export function nextSteps(shell: Shell, folder: string, { name, account }: FirstCampaign) {
  const { environment, workingFolder } = shell.settings;
  const campaign = `campaigns/${name}.yaml`;
  const trial = account === sandboxAccount ? ['--sandbox'] : [];
  const run = ['run', campaign, ...trial];
  // npm sets it for a command that it starts.
  const volley = environment['npm_command'] === 'exec' ? 'npx --no-install volley' : 'volley';
  const elsewhere = folder === workingFolder ? [] : [`cd ${shellWord(relative(workingFolder, folder))}`];
  return {
    /** Relative to the project. */
    campaign,
    cron: cronLine('0 9 * * 1-5', shell, folder, run),
    next: [...elsewhere, `${volley} plan ${campaign}`, `${volley} ${run.join(' ')}`],
  };
}

export function nextLines({ cron, next }: ReturnType<typeof nextSteps>, screen: Screen): string[] {
  const width = Math.max(...next.map((line) => line.length));
  const comments = ['see what would be sent', 'send it'];
  const first = next.length - comments.length;
  const commands = next.map((line, index) => {
    const comment = comments[index - first];
    return comment === undefined ? `  ${line}` : `  ${line.padEnd(width)}  # ${comment}`;
  });
  return [
    '',
    'To send it every weekday at nine, add this line to cron (crontab -e):',
    `  ${cron}`,
    '',
    styled('Next:', 'title', screen),
    ...commands,
  ];
}

/**
 * A crontab's line that starts a command in a folder. All paths are absolute: cron has neither the PATH of a terminal
 * nor its folder.
 */
function cronLine(
  times: string,
  { program }: Pick<Shell, 'program'>,
  folder: string,
  words: readonly string[],
): string {
  const command = [...program, ...words].map(shellWord).join(' ');
  // cron reads a plain % as the end of the line.
  return `${times} cd ${shellWord(folder)} && ${command}`.replaceAll('%', '\\%');
}

function shellWord(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
