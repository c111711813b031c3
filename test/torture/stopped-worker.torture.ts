import { test } from 'vitest';
import { expectStoppedWorkerHarmless } from '../support/stopped-worker.ts';

test.for(['claimed', 'sending', 'recording'])(
  'a worker that pauses longer than its lease at "%s" sends nothing that another worker has',
  (point) => expectStoppedWorkerHarmless(point),
);
