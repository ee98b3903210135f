import type { AlertingContext } from '../../src/alerting/context.ts'
import { applyConfiguration, planConfiguration } from '../../src/configuration/apply.ts'
import { exportConfiguration } from '../../src/configuration/export.ts'
import type { Plan } from '../../src/configuration/plan.ts'
import { Invalid } from '../../src/core/errors.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'

import { alertedIn } from '../alerting/setup.ts'
import { outbound } from '../notification/setup.ts'
import type { Tenant } from '../status/setup.ts'

/** Sets up organizations that use configuration files. */
export interface Configured {
  tenant(): Promise<Tenant>
  ctx(tenant: Tenant): AlertingContext
  plan(tenant: Tenant, yaml: string, more?: object): Promise<Plan>
  /** Plans and applies. */
  apply(tenant: Tenant, yaml: string, more?: object): Promise<Plan>
  export(tenant: Tenant): Promise<string>
}

export function configuredIn(database: Pick<DatabaseHandle, 'prisma' | 'pool'>): Configured {
  const alerted = alertedIn(database, { outbound, mailer: null })
  const plan = (tenant: Tenant, yaml: string, more?: object) =>
    planConfiguration(alerted.own(tenant), { yaml, ...more })
  return {
    tenant: () => alerted.tenant('TEAM'),
    ctx: (tenant) => alerted.own(tenant),
    plan,
    async apply(tenant, yaml, more) {
      const { hash } = await plan(tenant, yaml, more)
      return applyConfiguration(alerted.own(tenant), { yaml, ...more, planHash: hash })
    },
    export: (tenant) => exportConfiguration(alerted.own(tenant), tenant.id),
  }
}

/** Returns the changes of a plan, such as `CREATE services.api`. */
export const short = ({ changes }: Plan) =>
  changes.map(({ action, section, key, members }) =>
    [action, `${section}.${key}`, ...(action === 'UPDATE' ? members.map(({ name }) => name) : [])].join(' '),
  )

/** Returns the issues of a refusal as `line path: message`. */
export async function refusal(attempt: Promise<unknown>): Promise<string[]> {
  const error = await attempt.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Invalid)) throw error ?? new Error('It was not refused.')
  return error.issues.map(({ line, path, message }) => `${line ?? '-'} ${path.join('.')}: ${message}`)
}
