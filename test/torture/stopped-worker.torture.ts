import { test } from 'vitest';
import { expectStoppedWorkerHarmless } from '../support/stopped-worker.ts';

test.for(['claimed', 'sending', 'recording'])(
  'a worker that is stopped for longer than its heartbeat sends nothing when it goes on that another has; stopped at: %s',
  (point) => expectStoppedWorkerHarmless(point),
);
