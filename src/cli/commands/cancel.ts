import { runActionWords } from '../../report/run-action-words.ts';
import { argument, defineCommand } from '../command.ts';
import { runArgument, stopOptions } from '../options.ts';

export const command = defineCommand({
  description: `Cancels a run, in whichever process sends it. ${runActionWords.cancel.what}`,
  arguments: [argument('<run>', runArgument)],
  options: stopOptions('cancelled by an operator'),
  examples: [['volley cancel latest --reason "wrong list"', 'end the newest run for good']],
  run: async (shell, [name], options) => {
    const { stopAndPrint } = await import('../runs/stop-and-print.ts');
    await stopAndPrint(shell, 'cancel', name, options);
  },
});
