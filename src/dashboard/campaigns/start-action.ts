import type { FastifyInstance } from 'fastify';
import { type CampaignToPlan, type StartRequest, startOnce } from '../../engine/access/start-by-key.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { campaignPath } from '../paths.ts';
import { addStartPage } from '../plan/start-page.ts';
import type { PlannedStart } from '../plan/start-part.ts';
import { requireCampaign } from './campaign-page.ts';

/** Starts a campaign from the page of its plan. */
export function addStartAction(server: FastifyInstance, tools: Tools): void {
  addStartPage(server, tools, {
    path: '/campaigns/:file/start',
    needsReason: false,
    open: async (view, { params }) => {
      const { file } = await requireCampaign(view, tools, params['file'] ?? '');
      return {
        title: `Start ${file}`,
        within: { href: campaignPath(file), text: file },
        path: campaignPath(file, 'start'),
        query: {},
        ...campaignStart(view, tools, { campaign: file }),
      };
    },
  });
}

/** How a campaign, perhaps with other contact files, is planned, started and tried by a person. */
export function campaignStart(
  { context, session }: View,
  tools: Tools,
  campaign: Omit<CampaignToPlan, 'accounts' | 'fromRow'>,
): Pick<PlannedStart, 'key' | 'make' | 'button' | 'start' | 'test'> {
  const { planCampaign, startRun } = tools;
  const { name: token, accounts } = session;
  const subject = { ...campaign, accounts };
  const start = (how: Pick<StartRequest, 'key' | 'plan' | 'testTo' | 'testRow'>) =>
    startOnce(context, tools, () => startRun(context, { ...subject, token, ...how }));
  return {
    key: JSON.stringify(subject),
    make: (watch, fromRow) => planCampaign(context, { ...subject, fromRow }, watch),
    button: 'Start the run',
    start: ({ proof, repeats }) => start({ key: proof.id, plan: { proof, repeats } }),
    test: ({ key, row, address }) => start({ key, testTo: [address], testRow: row }),
  };
}
