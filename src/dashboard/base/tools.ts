import type { PlanCampaign, StartRun } from '../../engine/access/start-by-key.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { HealthCheckRounds } from '../../engine/doctor/diagnose.ts';
import type { CampaignSource } from '../../engine/schedule/start-ticks.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import type { SignInEvent } from '../../server/metrics.ts';
import type { KeptPlans } from '../plan/kept-plans.ts';
import type { Company } from './company-provider.ts';
import type { DashboardAddress } from './guards.ts';
import type { LiveParts } from './live.ts';
import type { OneTimeLink } from './one-time-link.ts';

/** What the process gives the dashboard. */
export type DashboardOptions = DashboardAddress & {
  readonly campaignSource: CampaignSource;
  readonly planCampaign: PlanCampaign;
  readonly startRun: StartRun;
  /** People may send campaigns to lists that they bring. */
  readonly uploads?: true | undefined;
  readonly limits: CallLimits;
  readonly logger: Logger;
  readonly link?: OneTimeLink | undefined;
  /** With whose identity provider people sign in. */
  readonly company?: Company | undefined;
  /** Counts an event of signing in. */
  readonly onSignIn?: ((event: SignInEvent) => void) | undefined;
};

/** What pages use, besides the view of their person. */
export type Tools = Pick<
  DashboardOptions,
  'campaignSource' | 'planCampaign' | 'startRun' | 'uploads' | 'limits' | 'logger'
> & {
  readonly context: EngineContext;
  readonly live: LiveParts;
  readonly plans: KeptPlans;
  readonly healthChecks: HealthCheckRounds;
};
