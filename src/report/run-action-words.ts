/** What a person or a program can do to a run: the verb, and what follows. */
export const runActionWords = {
  approve: {
    verb: 'Approve',
    what: 'The campaign and its contact files must be unchanged. A run of a schedule or of the API then starts by itself.',
  },
  promote: {
    verb: 'Promote',
    what: 'Workers send the rest, whatever its canary shows.',
  },
  pause: {
    verb: 'Pause',
    what: 'Nothing more of it is sent until it is resumed. Answers to requests in flight are recorded.',
  },
  resume: { verb: 'Resume', what: 'Workers send what is left of it.' },
  cancel: {
    verb: 'Cancel',
    what: 'It ends for good: what is not sent yet is never sent. Answers to requests in flight are recorded.',
  },
} as const;

export type RunAction = keyof typeof runActionWords;
