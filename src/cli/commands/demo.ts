import { defineCommand, flag } from '../command.ts';

export const command = defineCommand({
  description:
    'Runs the example campaigns against the sandbox, waits for the delivery reports, and prints the cost.',
  options: [
    flag('--interfaces', 'instead, run a small campaign for every other interface, format and channel'),
    flag('--dashboard', 'send slowly, print the address of a dashboard, and keep it until Ctrl-C'),
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
