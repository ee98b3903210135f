import { z } from 'zod'
import { tierOf } from '../account/tier.ts'
import { ofLiveOrganization } from '../account/views.ts'
import { requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { described, idOf, named } from '../core/described.ts'
import { NotFound, TierLimitReached } from '../core/errors.ts'
import { hashSecret } from '../core/hash-secret.ts'
import { isIdOf, newId, randomText } from '../core/id.ts'
import { requireVersion, versionInput } from '../core/optimistic-lock.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { invalid, nameText, validate } from '../core/validation.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Integration, Prisma, Tier } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { IntegrationKind } from '../generated/prisma/enums.ts'
import { requireServices } from '../status/ownership.ts'
import type { GenericPaths } from './kind/generic.ts'
import { genericPaths } from './kind/generic.ts'
import type { Rule } from './rule.ts'
import { rules } from './rule.ts'
import { secretProblem } from './signature.ts'

/** The path to which senders send; the secret follows it. */
export const INTEGRATION_PATH = '/api/v1/integrations'

/** The context of operations on integrations. */
export interface IntegrationContext extends ChangeContext {
  readonly seal: SecretBox
  /** Our public URL, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
}

/** How many integrations an organization may have. */
const maxIntegrations: Readonly<Record<Tier, number>> = { FREE: 3, PRO: 10, TEAM: 20 }

/** The highest limit of all tiers. */
export const MAX_INTEGRATIONS = maxIntegrations.TEAM

/** The length of a secret, with five bits per character. PagerDuty’s clients accept keys of 32. */
const SECRET_LENGTH = 32

const SECRET = new RegExp(`^[0-9a-v]{${SECRET_LENGTH}}$`)

const settings = {
  rules: described(rules.nullish(), {
    description: 'Up to 20 rules. Without rules, every alert suggests an incident.',
  }),
  paths: described(genericPaths.nullish(), { description: 'Only for GENERIC.' }),
  signingSecret: described(z.string().min(8, 'must be at least 8 characters long').max(500).nullish(), {
    description:
      'The secret with which Grafana, PagerDuty or Sentry signs; for GENERIC, a Standard Webhooks secret (whsec_…). Null: signatures are not checked.',
  }),
}

const name = described(nameText, { description: 'The integration’s name.' })

/** The input of `createIntegration`. */
export const newIntegration = named(
  z.object({
    name,
    kind: described(z.enum(IntegrationKind), {
      description: 'The tool that sends the alerts. It cannot change later.',
    }),
    ...settings,
  }),
  { name: 'CreateIntegration', about: 'An address that receives alerts.' },
)

/** The input of `updateIntegration`. */
export const integrationEdit = named(
  z.object({ id: idOf('The integration to update.'), name: name.optional(), ...settings, version: versionInput }),
  { name: 'UpdateIntegration', about: 'Omitted fields stay unchanged. The kind cannot change.' },
)

/** An integration, with its secret if it was just created: the secret is shown once. */
export interface IntegrationWithSecret {
  readonly integration: Integration
  /** Null if it was shown before. */
  readonly secret: string | null
}

/**
 * Creates an integration. Returns its secret, which cannot be read later. Requires a key with scope WRITE.
 * @throws Invalid, NotFound for a service outside the organization, and TierLimitReached.
 */
export async function createIntegration(ctx: IntegrationContext, input: unknown): Promise<IntegrationWithSecret> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = validate(newIntegration, input)
  requireSigning(given.kind, given.signingSecret)
  const id = newId('Integration')
  const secret = randomText(SECRET_LENGTH)
  return change(ctx, organizationId, async (tx) => {
    const tier = await tierOf(tx, organizationId)
    const limit = maxIntegrations[tier]
    if ((await tx.db.integration.count({ where: { organizationId } })) >= limit)
      throw new TierLimitReached(`The ${tier} tier allows ${limit} integrations, and all are in use.`, limit)
    await requireServicesOf(tx, organizationId, given.rules ?? [])
    const integration = await tx.db.integration.create({
      data: {
        ...{ id, organizationId, name: given.name, kind: given.kind },
        hash: hashSecret(secret),
        rules: [],
        ...stored(ctx.seal, id, given),
        createdAt: tx.now(),
      },
    })
    return [{ integration, secret }, integrationEvent('INTEGRATION_CREATED', integration)]
  })
}

/**
 * Updates the given fields of an integration; a `signingSecret` of null turns off the check of signatures. The kind cannot change.
 * Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if the integration is newer than the given version.
 */
export async function updateIntegration(ctx: IntegrationContext, input: unknown): Promise<Integration> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, name, ...given } = validate(integrationEdit, input)
  return change(ctx, organizationId, async (tx) => {
    const before = await ownIntegration(tx, organizationId, id)
    requireVersion(before, version)
    requireSigning(before.kind, given.signingSecret)
    await requireServicesOf(tx, organizationId, given.rules ?? [])
    const data = { name, ...stored(ctx.seal, id, given), version: { increment: 1 } }
    const integration = await tx.db.integration.update({ where: { id }, data })
    return [integration, integrationEvent('INTEGRATION_UPDATED', integration)]
  })
}

/** Replaces the secret of an integration; the old URL stops working. Requires a key with scope WRITE. @throws NotFound. */
export async function rotateIntegration(ctx: ChangeContext, id: string): Promise<IntegrationWithSecret> {
  const organizationId = requireScope(ctx, 'WRITE')
  const secret = randomText(SECRET_LENGTH)
  return change(ctx, organizationId, async (tx) => {
    await ownIntegration(tx, organizationId, id)
    const data = { hash: hashSecret(secret), version: { increment: 1 } }
    const integration = await tx.db.integration.update({ where: { id }, data })
    return [{ integration, secret }, integrationEvent('INTEGRATION_UPDATED', integration)]
  })
}

/** Deletes an integration and its received messages, but keeps its incidents. Requires a key with scope WRITE. @throws NotFound. */
export async function deleteIntegration(ctx: ChangeContext, id: string): Promise<Integration> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const integration = await ownIntegration(tx, organizationId, id)
    await tx.db.integration.delete({ where: { id } })
    return [integration, integrationEvent('INTEGRATION_DELETED', integration)]
  })
}

/** Reads an integration of an organization. @throws NotFound. */
export async function ownIntegration(
  { db }: Pick<Context, 'db'>,
  organizationId: string,
  id: string,
): Promise<Integration> {
  const known = isIdOf('Integration', id) ? id : ''
  const found = await db.integration.findUnique({ where: { id: known, organizationId } })
  if (found === null) throw new NotFound('Integration not found.')
  return found
}

/** Returns the integration with this secret, or null. */
export function integrationWithSecret({ db }: Pick<Context, 'db'>, secret: string): Promise<Integration | null> {
  if (!SECRET.test(secret)) return Promise.resolve(null)
  return db.integration.findUnique({ where: { hash: hashSecret(secret), ...ofLiveOrganization } })
}

/** Returns the URL to send to, or null if the secret was shown before. */
export function urlOf({ baseUrl }: IntegrationContext['site'], secret: string | null): string | null {
  return secret === null ? null : `${baseUrl}${INTEGRATION_PATH}/${secret}`
}

/** Returns the rules of an integration. */
export const rulesOf = ({ rules: stored }: Pick<Integration, 'rules'>): readonly Rule[] => rules.parse(stored)

/** Returns the paths of a GENERIC integration. */
export const pathsOf = ({ paths }: Pick<Integration, 'paths'>): GenericPaths => genericPaths.parse(paths)

/** Returns the secret with which the sender signs, or null if signatures are not checked. */
export function signingSecretOf(seal: SecretBox, { id, signingSecret }: Integration): string | null {
  return signingSecret === null ? null : seal.open(signingSecret, signingPurpose(id))
}

const signingPurpose = (id: string) => `${id} signing secret`

function stored(seal: SecretBox, id: string, { rules, paths, signingSecret }: Settings) {
  return {
    ...(rules && { rules: JSON.parse(JSON.stringify(rules)) as Prisma.InputJsonValue }),
    ...(paths && { paths: JSON.parse(JSON.stringify(paths)) as Prisma.InputJsonValue }),
    ...(signingSecret !== undefined && {
      signingSecret: signingSecret === null ? null : seal.seal(signingSecret, signingPurpose(id)),
    }),
  }
}

/** @throws Invalid for a secret with which senders of the kind cannot sign. */
function requireSigning(kind: IntegrationKind, secret: string | null | undefined): void {
  const problem = secret == null ? null : secretProblem(kind, secret)
  if (problem !== null) throw invalid([{ path: ['signingSecret'], message: problem }])
}

interface Settings {
  readonly rules?: Rule[] | null | undefined
  readonly paths?: GenericPaths | null | undefined
  readonly signingSecret?: string | null | undefined
}

function requireServicesOf(tx: Context, organizationId: string, all: readonly Rule[]): Promise<void> {
  const ids = new Set(all.flatMap(({ serviceId }) => serviceId ?? []))
  return requireServices(tx, organizationId, [...ids])
}

/** Creates an event about an integration. */
export const integrationEvent = (kind: EventKind, { id, name }: Integration): NewEvent => ({
  kind,
  subjectId: id,
  subjectName: name,
})
