import { runActionWords } from '../../report/run-action-words.ts';
import { argument, defineCommand } from '../command.ts';
import { runArgument, stopOptions } from '../options.ts';

export const command = defineCommand({
  description: `Pauses a run, in whichever process sends it. ${runActionWords.pause.what} \`volley resume\` continues it.`,
  arguments: [argument('<run>', runArgument)],
  options: stopOptions('paused by an operator'),
  examples: [['volley pause latest --reason "wrong text"', 'stop the newest run for now']],
  run: async (shell, [name], options) => {
    const { stopAndPrint } = await import('../runs/stop-and-print.ts');
    await stopAndPrint(shell, 'pause', name, options);
  },
});
