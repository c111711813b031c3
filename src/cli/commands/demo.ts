import { defineCommand, flag } from '../command.ts';

export const command = defineCommand({
  description: 'Runs the example campaigns against the sandbox, and prints the cost.',
  options: [
    flag('--interfaces', 'instead, a small campaign for every other interface, format and channel'),
    flag('--dashboard', 'send slowly, with a dashboard until Ctrl-C'),
  ],
  exits: { 3: 'a request was not accepted, or a delivery report is missing' },
  examples: [
    ['volley demo', 'see everything once, on this machine'],
    ['volley demo --dashboard', 'watch it in a browser'],
  ],
  run: async (shell, _, { interfaces = false, dashboard = false }) => {
    const { demonstrate } = await import('../demonstrate.ts');
    await demonstrate(shell, { everyInterface: interfaces, shown: dashboard });
  },
});
