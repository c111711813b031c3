/** What a person can do about something: a command on the command line, a page of the dashboard. */
export type Step =
  | {
      readonly kind: 'status' | 'approve' | 'promote' | 'resume' | 'cancel' | 'resolve';
      readonly run: string;
    }
  | { readonly kind: 'list reports'; readonly state: 'unmatched' | 'unreadable' | 'failed' }
  /** @param file the name of the campaign file in its folder */
  | { readonly kind: 'check campaign'; readonly file: string }
  | { readonly kind: GeneralStep };

type Pieces = readonly (string | Step)[];

/** A sentence, with what to type between backticks; or its pieces, where a page can do a part of it. */
export type NextStep = string | Pieces;

/** A sentence with steps in it: nextStep`See ${step}.` */
export function nextStep(words: TemplateStringsArray, ...steps: readonly (string | Step | Pieces)[]): Pieces {
  return words.flatMap((piece, index) => [piece, steps[index] ?? []].flat());
}

/** Steps that are about no single thing. */
const generalCommands = {
  'replay reports': '`volley delivery-reports replay`',
  'list missing reports': '`volley delivery-reports missing --older-than 1d`',
  'ask about missing reports': '`volley delivery-reports poll`',
  'bill by run': '`volley billing report --by run`',
  'list schedules': '`volley schedule list`',
  'run campaign': '`volley run CAMPAIGN`',
  'change limits': '`volley account limits`',
  'read refusals': '`volley status RUN`',
  'check health': '`volley doctor`',
} as const;
export type GeneralStep = keyof typeof generalCommands;

const commands: Readonly<Record<Step['kind'], string>> = {
  ...generalCommands,
  status: '`volley status RUN`',
  approve: '`volley approve RUN`',
  promote: '`volley promote RUN --reason …`',
  resume: '`volley resume RUN`',
  cancel: '`volley cancel RUN`',
  resolve: '`volley resolve RUN`',
  'list reports': '`volley delivery-reports list --state STATE`',
  'check campaign': '`volley plan --check`',
};

function commandOf(step: Step): string {
  const command = commands[step.kind];
  if ('run' in step) return command.replace('RUN', step.run);
  return 'state' in step ? command.replace('STATE', step.state) : command;
}

/** The sentence for the command line, with commands between backticks. */
export function nextStepText(next: NextStep): string {
  if (typeof next === 'string') return next;
  return next.map((piece) => (typeof piece === 'string' ? piece : commandOf(piece))).join('');
}
