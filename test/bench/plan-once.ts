import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { planRun } from '../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../src/engine/plan/preview-campaign.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { keepHeapSmall } from '../../src/platform/heap.ts';

/**
 * Plans a run (`ledger`), or a preview in a database without one (`preview`), in this process. Prints the run, seconds in
 * all and for reading, processor time and peak memory.
 */
const [kind, campaign = '', url = ''] = process.argv.slice(2);
keepHeapSmall();
const begun = performance.now();
const processor = process.cpuUsage();
let readSeconds = 0;
const settings = { environment: process.env, workingFolder: process.cwd() };
const prepared = await prepareCampaign(campaign, settings, kind === 'preview' ? {} : { keeps: 'files' });
let run: string | undefined;
if (kind === 'preview') {
  const scratch = new pg.Pool({ connectionString: url });
  await previewCampaign(prepared, { scratch, now: () => new Date() });
  await scratch.end();
} else {
  const ledger = await openLedger({ connectionString: url }, 'bench');
  run = await planRun(
    {
      ledger,
      actor: { name: 'bench', via: 'cli', token: null },
      now: () => new Date(),
      monotonic: () => performance.now(),
      randomBytes,
      random: Math.random,
      randomUuid: randomUUID,
    },
    prepared,
    {
      again: true,
      events: {
        onExpand: () => {
          readSeconds = (performance.now() - begun) / 1000;
        },
      },
    },
  );
  await ledger.close();
}
const seconds = (performance.now() - begun) / 1000;
const { user, system } = process.cpuUsage(processor);
const processorSeconds = (user + system) / 1e6;
console.log(
  JSON.stringify({
    run,
    seconds,
    readSeconds,
    processorSeconds,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }),
);
