import { resolve } from 'node:path';
import type { Command } from 'commander';
import { InputError } from '../../domain/problems.ts';
import { findProject, markProject, projectMarker } from '../../platform/project.ts';
import { type Shell, withNewLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      `Makes a folder a Volley project: marks it (${projectMarker}), makes campaigns/ in it, and a new, empty ledger: in its .volley/, or in the database that DATABASE_URL names. What is there already stays as it is.`,
    )
    .argument('[folder]', 'the folder of the project; the working folder by default')
    .option('--json', 'print what was made as JSON')
    .action(async (named: string | undefined, { json }: { json?: true }) => {
      const { workingFolder } = shell.settings;
      if (named === undefined) refuseInside(workingFolder);
      const folder = resolve(workingFolder, named ?? '.');
      const { made } = markProject(folder);
      const { environment } = shell.settings;
      const place = { ...shell, settings: { environment, workingFolder: folder } };
      const ledger = await withNewLedger(place, async (_, { description, created: isNew }) => {
        return { description, made: isNew };
      });
      if (json) {
        shell.print(JSON.stringify({ project: folder, made, ledger }));
        return;
      }
      shell.print(`${folder} is a Volley project.`);
      if (!ledger.made) shell.print(`Its ledger was there already: ${ledger.description}.`);
    });
}

/** Commands that are started below a project would use its second ledger without a word. */
function refuseInside(workingFolder: string): void {
  const project = findProject(workingFolder);
  if (project === undefined || project === workingFolder) return;
  const what = `is inside the project ${project}, whose ledger is used from here too. For a project of its own, with an empty ledger, name the folder: \`volley init .\`.`;
  throw new InputError([{ where: workingFolder, what }]);
}
