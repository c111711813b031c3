import type { FastifyInstance } from 'fastify';
import type { PlanCampaign, StartRun } from '../../engine/access/start-by-key.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { HealthCheckRounds } from '../../engine/doctor/diagnose.ts';
import type { CampaignSource } from '../../engine/schedule/start-ticks.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import type { SignInEvent } from '../../server/metrics.ts';
import type { KeptPlans } from '../plan/kept-plans.ts';
import type { createForms } from './actions.ts';
import type { Company } from './company-provider.ts';
import type { DashboardAddress } from './guards.ts';
import type { createLivePages } from './live.ts';
import type { OneTimeLink } from './one-time-link.ts';
import type { createPages } from './pages.ts';

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
export type Tools = Omit<DashboardOptions, 'host' | 'ownName' | 'link' | 'company' | 'onSignIn'> &
  ReturnType<typeof createPages> &
  ReturnType<typeof createForms> &
  ReturnType<typeof createLivePages> & {
    readonly server: FastifyInstance;
    readonly context: EngineContext;
    readonly plans: KeptPlans;
    readonly healthChecks: HealthCheckRounds;
  };
