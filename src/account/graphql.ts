import { Conflict, Invalid, NotFound } from '../errors.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { CheckPlan, Scope, Tier } from '../generated/prisma/enums.ts'
import { builder } from '../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../graphql/connection.ts'
import { costs, STATEMENT } from '../graphql/cost.ts'
import { describedValues } from '../graphql/descriptions.ts'
import { inputOf, REPLACED } from '../graphql/input.ts'
import { orderOf, pageOf } from '../graphql/keyset.ts'
import { creating, IDEMPOTENCY_KEY } from '../graphql/once.ts'
import { typeOfId } from '../id.ts'
import { nextUtcDay } from '../time.ts'
import { includesScope, requireOperator, requireScope, seesOrganization } from './access.ts'
import { keyMemory, organizationMemory } from './answers.ts'
import type { CreatedApiKey } from './api-key.ts'
import { createApiKey, revokeApiKey } from './api-key.ts'
import { deleteOrganization, deletionAt, restoreOrganization } from './deletion.ts'
import { createOrganization, setCheckPlan, updateOrganization } from './organization.ts'
import { checksPerDay, planAt } from './plan.ts'
import { organizationChecks } from './usage.ts'

builder.enumType(Tier, {
  name: 'Tier',
  description: 'The status-page tier of an organization.',
  values: describedValues({ FREE: 'The free tier.', PRO: 'The pro tier.', TEAM: 'The team tier.' }),
})
builder.enumType(CheckPlan, {
  name: 'CheckPlan',
  description: 'The plan for blacklist checks.',
  values: describedValues({
    FREE: '100 checks a day, counted by client address.',
    PRO: '1,000 checks a day for the organization, and bulk checks.',
  }),
})
builder.enumType(Scope, {
  name: 'Scope',
  description: 'What a key may do; each scope includes the ones before it.',
  values: describedValues({
    ADMIN: 'Also manage keys and the organization.',
    READ: 'Read everything of the organization.',
    WRITE: 'Also change what the page shows, monitors and subscribers.',
  }),
})

/** Granted to whoever just made something: a visitor who signs up sees the organization before holding its key. */
const MAKER = 'maker'

const keysNewestFirst = orderOf('ApiKey', { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

interface ChecksUsage {
  readonly used: number
  readonly limit: number
  readonly resetsAt: Date
}

const ChecksUsage = builder.objectRef<ChecksUsage>('ChecksUsage').implement({
  description: 'The pro plan’s checks of the current UTC day. Free checks are counted by client address, not here.',
  fields: (t) => ({
    used: t.exposeInt('used', { description: 'Checks made today.' }),
    limit: t.exposeInt('limit', { description: 'Checks a day; 0 without the pro plan.' }),
    resetsAt: t.expose('resetsAt', { type: 'DateTime', description: 'The next UTC midnight.' }),
  }),
})

const Usage = builder.objectRef<{ checks: ChecksUsage }>('Usage').implement({
  description: 'What an organization has used of its plans.',
  fields: (t) => ({ checks: t.expose('checks', { type: ChecksUsage, description: 'Blacklist checks.' }) }),
})

const Organization = builder.prismaNode('Organization', {
  id: { field: 'id' },
  nullable: true,
  description: 'A tenant: it has one status page, API keys, a tier and a check plan.',
  authScopes: ({ id }, { actor }) => seesOrganization(actor, id) || { $granted: MAKER },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its name in addresses.' }),
    contactEmail: t.exposeString('contactEmail', { description: 'The address for billing and reminders.' }),
    timeZone: t.exposeString('timeZone', {
      description: 'The time zone that its days are cut in, such as Europe/Berlin.',
    }),
    tier: t.expose('tier', { type: Tier, description: 'The status-page tier.' }),
    checkPlan: t.field({
      type: CheckPlan,
      description: 'The plan for checks as of now.',
      resolve: (organization, _args, ctx) => planAt(organization, ctx.now()),
    }),
    checkPlanUntil: t.expose('checkPlanUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When the paid check plan ends; null when it does not end by itself.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was deleted; null: it was not. Only the operator still sees one that was.',
    }),
    deletionAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when the operator can restore it; then everything of it is erased. Null: it was not deleted.',
      resolve: deletionAt,
    }),
    apiKeys: t.field({
      type: connectionOf('ApiKey'),
      description: 'Every key, revoked ones included, newest first. Needs a key with scope ADMIN.',
      authScopes: (_organization, _args, { actor }) => actor.kind !== 'apiKey' || includesScope(actor.scope, 'ADMIN'),
      args: pageArgs,
      resolve: ({ id }, args, ctx, info) =>
        pageOf({
          order: keysNewestFirst,
          args,
          where: { organizationId: id },
          read: (slice) => ctx.db.apiKey.findMany({ ...nodeQuery('ApiKey', ctx, info), ...slice }),
          count: (query) => ctx.db.apiKey.count(query),
        }),
    }),
    usage: t.field({
      type: Usage,
      description: 'What it has used of its plans.',
      resolve: async (organization, _args, ctx) => {
        const limit = planAt(organization, ctx.now()) === 'PRO' ? checksPerDay.PRO : 0
        const used = await organizationChecks(ctx, organization.id)
        return { checks: { used, limit, resetsAt: nextUtcDay(ctx.now()) } }
      },
    }),
  }),
})

const ApiKey = builder.prismaNode('ApiKey', {
  id: { field: 'id' },
  nullable: true,
  description: 'A key of an organization. The secret itself is shown once, when the key is made, and is not kept.',
  authScopes: ({ organizationId }, { actor }) => seesOrganization(actor, organizationId) || { $granted: MAKER },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What the key is for.' }),
    scope: t.expose('scope', { type: Scope, description: 'What the key may do.' }),
    prefix: t.exposeString('prefix', { description: 'The first characters of the key, to tell keys apart.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it stops working; null: it does not expire.',
    }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'To the minute.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null: it was not.',
    }),
  }),
})

/** A key just made. `id` is the key's, so that a script needs one level only. */
const CreateApiKeyPayload = builder.objectRef<CreatedApiKey>('CreateApiKeyPayload').implement({
  description: 'A key just made: the only time its secret is shown.',
  fields: (t) => ({
    id: t.id({ resolve: ({ apiKey }) => apiKey.id }),
    secret: t.exposeString('secret', { description: 'The whole key, for `Authorization: Bearer`.' }),
    apiKey: t.field({ description: 'The key.', type: ApiKey, grantScopes: [MAKER], resolve: ({ apiKey }) => apiKey }),
  }),
})

type NewOrganization = Awaited<ReturnType<typeof createOrganization>>

const CreateOrganizationPayload = builder.objectRef<NewOrganization>('CreateOrganizationPayload').implement({
  description: 'The new organization and its first key.',
  fields: (t) => ({
    organization: t.expose('organization', {
      type: Organization,
      description: 'The new organization.',
      grantScopes: [MAKER],
    }),
    apiKey: t.expose('apiKey', { type: CreateApiKeyPayload, description: 'Its first key, with scope ADMIN.' }),
  }),
})

builder.queryField('organization', (t) =>
  t.prismaField({
    extensions: costs({ itself: STATEMENT }),
    type: Organization,
    description: 'The organization whose key the caller holds, or that the operator names or acts for.',
    args: { id: t.arg.id({ required: false, description: 'Which one, for the operator; a key has one only.' }) },
    resolve: async (query, _root, { id: asked }, ctx) => {
      const { actor } = ctx
      const id = actor.kind === 'operator' && asked != null ? asked : requireScope(ctx, 'READ')
      const isMeant = typeOfId(id) === 'Organization' && (asked == null || asked === id)
      const found = isMeant ? await ctx.db.organization.findUnique({ ...query, where: { id } }) : null
      if (found === null) throw new NotFound('There is no such organization.')
      return found
    },
  }),
)

const CreateOrganizationInput = builder.inputType('CreateOrganizationInput', {
  description: 'The organization to create.',
  fields: (t) => ({
    name: t.string({ description: 'The organization’s name, as its page shows it.' }),
    slug: t.string({ description: 'Its name in addresses: small letters, digits and single hyphens.' }),
    contactEmail: t.string({ description: 'The address for billing and reminders.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

const OrganizationFilter = builder.inputType('OrganizationFilter', {
  description: 'Which organizations to list.',
  fields: (t) => ({
    text: t.string({
      required: false,
      description: 'Part of the name, the slug or the contact address, in any case.',
    }),
    tier: t.field({ type: Tier, required: false, description: 'Those on this tier.' }),
  }),
})

const organizationsNewestFirst = orderOf('Organization', { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

builder.queryField('organizations', (t) =>
  t.field({
    type: connectionOf('Organization'),
    description: 'Every organization, newest first. Operator only.',
    args: { ...pageArgs, filter: t.arg({ type: OrganizationFilter, required: false }) },
    resolve: (_root, { filter, ...args }, ctx, info) => {
      requireOperator(ctx)
      return pageOf({
        order: organizationsNewestFirst,
        args,
        where: organizationsWith(filter?.text ?? '', filter?.tier ?? null),
        read: (slice) => ctx.db.organization.findMany({ ...nodeQuery('Organization', ctx, info), ...slice }),
        count: (query) => ctx.db.organization.count(query),
      })
    },
  }),
)

function organizationsWith(text: string, tier: Tier | null): Prisma.OrganizationWhereInput {
  // The database takes no NUL, and reads these three as part of a pattern.
  const contains = text.replaceAll('\0', '\ufffd').replace(/[\\%_]/g, '\\$&')
  const part = { contains, mode: 'insensitive' } as const
  return {
    ...(text !== '' && { OR: [{ name: part }, { slug: part }, { contactEmail: part }] }),
    ...(tier !== null && { tier }),
  }
}

builder.mutationField('createOrganization', (t) =>
  t.field({
    type: CreateOrganizationPayload,
    description: 'Makes an organization with its first key. Operator only, unless signing up is open.',
    args: { input: t.arg({ type: CreateOrganizationInput }) },
    errors: { types: [Invalid, Conflict, NotFound] },
    resolve: creating('createOrganization', { needs: null, memory: organizationMemory }, createOrganization),
  }),
)

const SetCheckPlanInput = builder.inputType('SetCheckPlanInput', {
  description: 'The check plan to set.',
  fields: (t) => ({
    organizationId: t.id({ description: 'The organization.' }),
    plan: t.field({ type: CheckPlan, description: 'The plan.' }),
    until: t.field({ type: 'DateTime', required: false, description: 'When it ends; absent: it does not.' }),
  }),
})

builder.mutationField('setCheckPlan', (t) =>
  t.field({
    type: Organization,
    description: 'Gives an organization a check plan. Operator only.',
    args: { input: t.arg({ type: SetCheckPlanInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input }, ctx) => setCheckPlan(ctx, input),
  }),
)

const PageLinkInput = builder.inputType('PageLinkInput', {
  description: 'A link on the page.',
  fields: (t) => ({
    label: t.string({ description: 'The text of the link.' }),
    url: t.string({ description: 'http or https.' }),
  }),
})

const UpdateOrganizationInput = builder.inputType('UpdateOrganizationInput', {
  description: 'What is left out stays as it is.',
  fields: (t) => ({
    name: t.string({ required: false, description: 'The organization’s name.' }),
    slug: t.string({ required: false, description: 'Addresses with the old one are no longer found.' }),
    organizationId: t.id({ required: false, description: 'Which one, for the operator; a key has one only.' }),
    contactEmail: t.string({ required: false, description: 'The address for billing and reminders.' }),
    timeZone: t.string({ required: false, description: 'Such as Europe/Berlin.' }),
    description: t.string({ required: false, description: 'What the page says about the organization.' }),
    accentColor: t.string({ required: false, description: 'As #rrggbb.' }),
    logoUrl: t.string({ required: false, description: 'Null: none.' }),
    links: t.field({ type: [PageLinkInput], required: false, description: 'All of them, in place of those it has.' }),
    customDomain: t.string({
      required: false,
      description: 'A host name under which the page is served too, once it is proven; null: none.',
      deprecationReason: 'Use requestDomain to set it, which says how to prove it. Null still unsets it.',
    }),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
  }),
})

builder.mutationField('updateOrganization', (t) =>
  t.field({
    type: Organization,
    description: 'Changes the caller’s organization and its page. Needs a key with scope ADMIN.',
    args: { input: t.arg({ type: UpdateOrganizationInput }) },
    errors: { types: [Invalid, Conflict, NotFound] },
    resolve: (_root, { input }, ctx) => updateOrganization(ctx, input),
  }),
)

const DeleteOrganizationInput = builder.inputType('DeleteOrganizationInput', {
  description: 'The organization to delete.',
  fields: (t) => ({
    id: t.id({ description: 'The organization’s id.' }),
    slug: t.string({ description: 'The organization’s slug, typed as confirmation.' }),
  }),
})

type Deleted = Awaited<ReturnType<typeof deleteOrganization>>

const DeleteOrganizationPayload = builder.objectRef<Deleted>('DeleteOrganizationPayload').implement({
  description: 'What has been deleted.',
  fields: (t) => ({
    id: t.exposeID('id'),
    deletionAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when the operator can restore it; then everything of it is erased.',
      resolve: deletionAt,
    }),
  }),
})

builder.mutationField('deleteOrganization', (t) =>
  t.field({
    type: DeleteOrganizationPayload,
    description:
      'Deletes the caller’s organization with everything it has. Its page and keys end at once; its slug stays taken, and the operator can restore it, for seven days. Cancel what is paid for it at the payment provider. Needs a key with scope ADMIN.',
    args: { input: t.arg({ type: DeleteOrganizationInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input }, ctx) => deleteOrganization(ctx, input),
  }),
)

builder.mutationField('restoreOrganization', (t) =>
  t.field({
    type: Organization,
    description: 'Restores a deleted organization as it was. Operator only.',
    args: { id: t.arg.id({ description: 'The organization.' }) },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => restoreOrganization(ctx, id),
  }),
)

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'The key to create.',
  fields: (t) => ({
    name: t.string({ description: 'What the key is for.' }),
    scope: t.field({ type: Scope, description: 'What the key may do.' }),
    expiresAt: t.field({ type: 'DateTime', required: false, description: 'Absent: it does not expire.' }),
    organizationId: t.id({ required: false, description: 'Whose key, for the operator; a key makes keys of its own.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('createApiKey', (t) =>
  t.field({
    type: CreateApiKeyPayload,
    description: 'Makes a key of the caller’s organization. Needs a key with scope ADMIN.',
    args: { input: t.arg({ type: CreateApiKeyInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: creating('createApiKey', { needs: 'ADMIN', memory: keyMemory }, createApiKey),
  }),
)

const RevokeApiKeyInput = builder.inputType('RevokeApiKeyInput', {
  description: 'Which key to revoke.',
  fields: (t) => ({
    id: t.id({ description: 'The key’s id.' }),
    force: t.boolean({
      required: false,
      description: 'Whether to end also the last key with scope ADMIN: then only the operator can make another.',
    }),
  }),
})

builder.mutationField('revokeApiKey', (t) =>
  t.field({
    type: ApiKey,
    description: 'Ends a key of the caller’s organization at once. Needs a key with scope ADMIN.',
    args: {
      input: t.arg({ type: RevokeApiKeyInput, required: false }),
      id: t.arg.id({ ...REPLACED, description: 'The key’s id.' }),
    },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, args, ctx) => {
      const { id, force } = inputOf<(typeof RevokeApiKeyInput)['$inferInput']>(args, ['id'])
      return revokeApiKey(ctx, id, { force: force === true })
    },
  }),
)
