import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { type FirstCampaign, firstCampaignYaml } from '../../campaign/first-campaign.ts';
import { InputError } from '../../domain/problems.ts';
import {
  accountsFile,
  campaignSchemaFile,
  commonFiles,
  exampleContacts,
  type ProjectFile,
} from '../../engine/project/project-files.ts';
import { hasCampaigns, writeProjectFiles } from '../../engine/project/write-files.ts';
import { findProject, markProject } from '../../platform/project.ts';
import { type Shell, withNewLedger } from '../shell.ts';
import { chooseFirstCampaign, type FirstOptions } from './choose-first-campaign.ts';
import { adviceLines, fileLines, nextLines, nextSteps } from './init-text.ts';
import { openQuestions } from './questions.ts';

type InitOptions = FirstOptions & {
  readonly bare?: true;
  readonly yes?: true;
  readonly json?: true;
};

/** `volley init`. @param named the folder; the working folder without one */
export async function makeProject(
  shell: Shell,
  named: string | undefined,
  options: InitOptions,
): Promise<void> {
  const { workingFolder } = shell.settings;
  if (named === undefined) refuseInside(workingFolder);
  const folder = resolve(workingFolder, named ?? '.');
  shell.endOnStop('Stopped. Run `volley init` again to continue.');
  const { campaign, files } = await chooseFiles(shell, folder, options);
  const { made } = markProject(folder);
  const written = writeProjectFiles(folder, files);
  const projectShell = { ...shell, settings: shell.settingsIn(folder) };
  const ledger = await withNewLedger(projectShell, async (_, { description, created: isNew }) => {
    return { description, made: isNew };
  });
  const next = campaign && nextSteps(shell, folder, campaign);
  if (options.json) {
    const paths = (wasMade: boolean): string[] =>
      written.flatMap((file) => (file.made === wasMade ? [file.path] : []));
    const fileLists = { made: paths(true), kept: paths(false) };
    shell.print(JSON.stringify({ project: folder, made, ledger, files: fileLists, ...next }));
    return;
  }
  shell.print(`${folder} is a Volley project.`);
  if (!ledger.made) shell.print(`Its ledger existed already: ${ledger.description}.`);
  const lines = [
    ...fileLines(written, shell.screen),
    ...adviceLines(shell, folder, written),
    ...(next ? nextLines(next, shell.screen) : []),
  ];
  for (const line of lines) shell.print(line);
}

/** A folder with campaigns gets no others, unless an option asks for one. */
async function chooseFiles(
  shell: Shell,
  folder: string,
  { bare, yes, json, ...first }: InitOptions,
): Promise<{ readonly campaign?: FirstCampaign; readonly files: readonly ProjectFile[] }> {
  const [flag] = Object.keys(first);
  if (bare && flag !== undefined)
    throw new InputError([{ where: '--bare', what: `It writes no campaign, so it excludes --${flag}.` }]);
  const isNew = !hasCampaigns(folder);
  if (bare || (!isNew && flag === undefined)) return { files: [] };
  const questions = yes || json ? undefined : openQuestions(shell);
  try {
    const { campaign, isExample } = await chooseFirstCampaign(shell, folder, first, questions?.ask);
    const of = isExample ? 'the example' : 'your contacts';
    const what = `a first campaign, by ${campaign.channel === 'sms' ? 'SMS' : 'e-mail'} to ${of}`;
    const own = { path: `campaigns/${campaign.name}.yaml`, text: firstCampaignYaml(campaign), what };
    const example = isExample ? [exampleContacts] : [];
    const others = isNew ? settingsFiles(shell) : [campaignSchemaFile()];
    return { campaign, files: [own, ...example, ...others] };
  } finally {
    questions?.close();
  }
}

/** The accounts file can be elsewhere. */
function settingsFiles({ settings }: Shell): readonly ProjectFile[] {
  const files = commonFiles(() => randomBytes(24).toString('base64url'));
  return settings.environment['VOLLEY_ACCOUNTS'] ? files.filter(({ path }) => path !== accountsFile) : files;
}

/** Commands in a project inside a project would silently use the second ledger. */
function refuseInside(workingFolder: string): void {
  const project = findProject(workingFolder);
  if (project === undefined || project === workingFolder) return;
  const what = `is inside the project ${project}, and commands here use its ledger. To make a separate project with an empty ledger, name the folder: \`volley init .\`.`;
  throw new InputError([{ where: workingFolder, what }]);
}
