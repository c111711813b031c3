import { type Command, Option } from 'commander';
import type { ResolveOptions } from '../actions/resolve.ts';
import { parsePerson, runArgument } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Lists requests in doubt, looks them up, or resolves them by your decision, which is recorded. A request is in doubt when it may have reached the service, but no answer proves it.',
    )
    .argument('<run>', runArgument)
    .option('--request <request...>', 'only these requests, by number or MessageID (default: all in doubt)')
    .addOption(
      new Option(
        '--answer <words>',
        'only the requests with this answer, or whose reason begins with these words, such as "HTTP 404"',
      ).conflicts('request'),
    )
    .addOption(exclusiveOption('accepted', 'the service has them; they count as accepted'))
    .addOption(
      exclusiveOption(
        'resend',
        'send them again with the same MessageID and bytes; recipients can get the message twice',
      ),
    )
    .addOption(exclusiveOption('abandon', 'give them up; the state of their recipients stays unknown'))
    .addOption(
      exclusiveOption(
        'lookUp',
        'ask the service about each request, at most one a second; a request that the service has is accepted',
      ),
    )
    .option('--reason <words>', 'the reason for --accepted, --resend or --abandon')
    .option('--by <name>', 'the person who decides (default: user@host)', parsePerson)
    .option('--json', 'print the result as JSON, and a list as one object a line')
    .action(async (name: string, options: ResolveOptions) => {
      const { resolveAction } = await import('../actions/resolve.ts');
      await resolveAction(shell, name, options);
    });
}

const actions = ['accepted', 'resend', 'abandon', 'lookUp'] as const;

function exclusiveOption(name: (typeof actions)[number], description: string): Option {
  const others = actions.filter((other) => other !== name);
  return new Option(`--${name === 'lookUp' ? 'look-up' : name}`, description).conflicts(others);
}
