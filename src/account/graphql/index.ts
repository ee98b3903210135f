import { canReadOrganization, hasScope, requireOperator, requireScope } from '../../core/access.ts'
import { Conflict, Invalid, ManagedByFile, NotFound, RateLimited } from '../../core/errors.ts'
import { ANY_CASE, containsText, inRange, searchText } from '../../core/list-filter.ts'
import { nextUtcDay } from '../../core/time.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { CheckPlan, Scope, Tier, UptimeSource } from '../../generated/prisma/enums.ts'
import { costs, STATEMENT_COST } from '../../graphql/document/cost.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { filterTag, listCosts, NAME_SEARCH_COST } from '../../graphql/list/filter.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { IDEMPOTENCY_KEY, idempotentResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { inputOf } from '../../graphql/schema/input.ts'
import { PageLinkInput } from '../../graphql/schema/page-link-input.ts'
import { VERSION_READ } from '../../graphql/schema/version.ts'
import { Language } from '../../language/catalogue.ts'
import type { CreatedApiKey } from '../api-key/api-key.ts'
import { createApiKey, revokeApiKey } from '../api-key/api-key.ts'
import { keySerializer, organizationSerializer } from '../api-key/idempotent-answers.ts'
import { checksPerDay, planAt } from '../limits.ts'
import { actorFor } from '../on-behalf-of.ts'
import { deleteOrganization, deletionAt, restoreOrganization } from '../organization/deletion.ts'
import { createOrganization, setCheckPlan, updateOrganization } from '../organization/organization.ts'
import { organizationChecks } from '../quota.ts'
import { builder } from './builder.ts'

builder.enumType(Tier, {
  name: 'Tier',
  description: 'The status-page tier of an organization.',
  values: describedValues({ FREE: 'The free tier.', PRO: 'The pro tier.', TEAM: 'The team tier.' }),
})
builder.enumType(UptimeSource, {
  name: 'UptimeSource',
  description: 'What counts towards the uptime of a service.',
  values: describedValues({
    INCIDENTS:
      'Incidents. The service counts as up unless an incident reports an outage; a partial outage counts 30 %.',
    MONITORS: 'Results of monitors. A service without monitors uses incidents.',
    MONITORS_AND_INCIDENTS:
      'The default: at each time, the worse of the monitors and what the team declared in incidents. A partial outage counts 30 %.',
  }),
})
builder.enumType(Language, {
  name: 'Language',
  description: 'A language of pages, emails and feeds.',
  values: describedValues({
    DE: 'German.',
    EN: 'English.',
    ES: 'Spanish.',
    FR: 'French.',
    IT: 'Italian.',
    JA: 'Japanese.',
    NL: 'Dutch.',
    PL: 'Polish.',
    PT_BR: 'Brazilian Portuguese.',
    ZH_HANS: 'Simplified Chinese.',
  }),
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
  description: 'What a key may do. WRITE includes READ, and ADMIN includes both.',
  values: describedValues({
    ADMIN: 'Also manage keys and the organization.',
    READ: 'Read everything in the organization.',
    WRITE: 'Also change what the page shows, monitors and subscribers.',
  }),
})

/** Granted to the creator, so that a visitor who signs up can read the new organization before getting its key. */
const CREATOR = 'maker'

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
  description: 'An organization’s usage of its plans.',
  fields: (t) => ({ checks: t.expose('checks', { type: ChecksUsage, description: 'Blacklist checks.' }) }),
})

const Organization = builder.prismaNode('Organization', {
  id: { field: 'id' },
  nullable: true,
  description: 'A tenant, with status pages, API keys, a tier and a check plan.',
  authScopes: ({ id }, { actor }) => canReadOrganization(actor, id) || { $granted: CREATOR },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its name in URLs.' }),
    contactEmail: t.exposeString('contactEmail', { description: 'The address for billing and reminders.' }),
    timeZone: t.exposeString('timeZone', {
      description: 'The time zone of its days, such as Europe/Berlin.',
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
      description: 'When the paid check plan ends; null: it has no end.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was deleted; null: it was not. Only the operator can see deleted organizations.',
    }),
    deletionAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'The operator can restore it until then. After that, all its data is erased. Null: it was not deleted.',
      resolve: deletionAt,
    }),
    apiKeys: t.field({
      type: connectionOf('ApiKey'),
      description: 'All keys, including revoked ones, newest first. Requires a key with scope ADMIN.',
      authScopes: ({ id }, _args, { actor }) => hasScope(actor, id, 'ADMIN'),
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
      description: 'The organization’s usage of its plans.',
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
  description: 'An API key of an organization. Its secret is returned only once, on creation, and is not stored.',
  authScopes: ({ organizationId }, { actor }) => canReadOrganization(actor, organizationId) || { $granted: CREATOR },
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
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute. Null: never.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null: it was not.',
    }),
  }),
})

/** A new key. `id` is the key's id, so that a script needs only one level. */
const CreateApiKeyPayload = builder.objectRef<CreatedApiKey>('CreateApiKeyPayload').implement({
  description: 'A new key. Its secret is shown only here.',
  fields: (t) => ({
    id: t.id({ resolve: ({ apiKey }) => apiKey.id }),
    secret: t.exposeString('secret', {
      description: 'The full key, for `Authorization: Bearer`. It is shown only once.',
    }),
    apiKey: t.field({
      description: 'The key without its secret.',
      type: ApiKey,
      grantScopes: [CREATOR],
      resolve: ({ apiKey }) => apiKey,
    }),
  }),
})

type NewOrganization = Awaited<ReturnType<typeof createOrganization>>

const CreateOrganizationPayload = builder.objectRef<NewOrganization>('CreateOrganizationPayload').implement({
  description: 'The new organization and its first key.',
  fields: (t) => ({
    organization: t.expose('organization', {
      type: Organization,
      description: 'The new organization.',
      grantScopes: [CREATOR],
    }),
    apiKey: t.expose('apiKey', { type: CreateApiKeyPayload, description: 'Its first key, with scope ADMIN.' }),
  }),
})

builder.queryField('organization', (t) =>
  t.prismaField({
    extensions: costs({ itself: STATEMENT_COST, about: () => 'own' }),
    type: Organization,
    description: 'The organization of the caller’s key or membership, or the one that the operator names or acts for.',
    args: {
      id: t.arg.id({
        required: false,
        description:
          'The id of the organization. Only the operator and people with several organizations need this or `slug`.',
      }),
      slug: t.arg.string({ required: false, description: 'The name of the organization in URLs, instead of `id`.' }),
    },
    resolve: async (query, _root, { id, slug }, ctx) => {
      const name = id ?? slug
      const acting = name == null ? ctx.actor : await actorFor(ctx.db, ctx.actor, name)
      const own = requireScope({ ...ctx, actor: acting }, 'READ')
      const found = await ctx.db.organization.findUnique({ ...query, where: { id: own } })
      const isMeant = (id == null || id === own) && (slug == null || slug === found?.slug)
      if (found === null || !isMeant) throw new NotFound('Organization not found.')
      return found
    },
  }),
)

const CreateOrganizationInput = builder.inputType('CreateOrganizationInput', {
  description: 'The organization to create.',
  fields: (t) => ({
    name: t.string({ description: 'The organization’s name, as its page shows it.' }),
    slug: t.string({ description: 'Its name in URLs: lowercase letters, digits and single hyphens.' }),
    contactEmail: t.string({ description: 'The address for billing and reminders.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

const OrganizationFilter = builder.inputType('OrganizationFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    text: t.string({
      required: false,
      description: `Part of the name, the slug or the contact address, ${ANY_CASE}`,
    }),
    tier: t.field({ type: Tier, required: false, description: 'On this tier.' }),
    createdAfter: t.field({ type: 'DateTime', required: false, description: 'Created at or after this time.' }),
    createdBefore: t.field({ type: 'DateTime', required: false, description: 'Created before this time.' }),
  }),
})

builder.queryField('organizations', (t) =>
  t.field({
    type: connectionOf('Organization'),
    description: 'Every organization, newest first. Operator only.',
    extensions: listCosts(NAME_SEARCH_COST),
    args: { ...pageArgs, filter: t.arg({ type: OrganizationFilter, required: false }) },
    resolve: (_root, { filter, ...args }, ctx, info) => {
      requireOperator(ctx)
      return pageOf({
        order: orderOf('Organization', { createdAt: ['time', 'desc'], id: ['text', 'desc'] }, filterTag(filter)),
        args,
        where: organizationsMatching(filter ?? {}),
        read: (slice) => ctx.db.organization.findMany({ ...nodeQuery('Organization', ctx, info), ...slice }),
        count: (query) => ctx.db.organization.count(query),
      })
    },
  }),
)

function organizationsMatching(filter: (typeof OrganizationFilter)['$inferInput']): Prisma.OrganizationWhereInput {
  const { tier } = filter
  const text = searchText('text', filter.text)
  const part = text === null ? null : containsText(text)
  const createdAt = inRange('created', filter.createdAfter, filter.createdBefore)
  return {
    ...(part && { OR: [{ name: part }, { slug: part }, { contactEmail: part }] }),
    ...(tier && { tier }),
    ...(createdAt && { createdAt }),
  }
}

builder.mutationField('createOrganization', (t) =>
  t.field({
    type: CreateOrganizationPayload,
    description:
      'Creates an organization and its first key. Operator only, unless sign-up is open. With open sign-up, a network can create at most 5 an hour and 10 a day (UTC).',
    args: { input: t.arg({ type: CreateOrganizationInput }) },
    errors: { types: [Invalid, Conflict, NotFound, RateLimited] },
    resolve: idempotentResolver(
      'createOrganization',
      { needs: null, memory: organizationSerializer },
      createOrganization,
    ),
  }),
)

const SetCheckPlanInput = builder.inputType('SetCheckPlanInput', {
  description: 'The check plan to set.',
  fields: (t) => ({
    organizationId: t.id({ description: 'The organization.' }),
    plan: t.field({ type: CheckPlan, description: 'The check plan.' }),
    until: t.field({ type: 'DateTime', required: false, description: 'When it ends. If omitted, it has no end.' }),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('setCheckPlan', (t) =>
  t.field({
    type: Organization,
    description: 'Sets the check plan of an organization. Operator only.',
    args: { input: t.arg({ type: SetCheckPlanInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => setCheckPlan(ctx, input),
  }),
)

const UpdateOrganizationInput = builder.inputType('UpdateOrganizationInput', {
  description: 'The changes. Omitted fields stay as they are.',
  fields: (t) => ({
    name: t.string({ required: false, description: 'The organization’s name.' }),
    slug: t.string({ required: false, description: 'Its name in URLs. URLs with the old name stop working.' }),
    organizationId: t.id({
      required: false,
      description: 'The id of the organization. Only the operator needs it: other keys have one organization.',
    }),
    contactEmail: t.string({ required: false, description: 'The address for billing and reminders.' }),
    timeZone: t.string({ required: false, description: 'The time zone, such as Europe/Berlin.' }),
    description: t.string({ required: false, description: 'What the page says about the organization.' }),
    accentColor: t.string({ required: false, description: 'The accent colour, as `#rrggbb`.' }),
    logoUrl: t.string({
      required: false,
      description: 'An https URL. Replaces a logo that was uploaded in the console. Null: none.',
    }),
    links: t.field({ type: [PageLinkInput], required: false, description: 'All links. Replaces the current list.' }),
    uptimeSource: t.field({
      type: UptimeSource,
      required: false,
      description: 'What counts towards the uptime of services.',
    }),
    languages: t.field({
      type: [Language],
      required: false,
      description: 'The languages that the page offers. Empty: all.',
    }),
    defaultLanguage: t.field({
      type: Language,
      required: false,
      description: 'The language for readers who accept none of the others. It is always offered.',
    }),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('updateOrganization', (t) =>
  t.field({
    type: Organization,
    description: 'Changes the caller’s organization and its page. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: UpdateOrganizationInput }) },
    errors: { types: [Invalid, Conflict, NotFound, ManagedByFile] },
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
  description: 'The deleted organization.',
  fields: (t) => ({
    id: t.exposeID('id'),
    deletionAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The operator can restore it until then. After that, all its data is erased.',
      resolve: deletionAt,
    }),
  }),
})

builder.mutationField('deleteOrganization', (t) =>
  t.field({
    type: DeleteOrganizationPayload,
    description:
      'Deletes the caller’s organization and all its data. Its pages and keys stop working immediately. For seven days, its slug stays reserved and the operator can restore it. Cancel its subscriptions at the payment provider. Requires a key with scope ADMIN.',
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
    expiresAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When it stops working. If omitted, it does not expire.',
    }),
    organizationId: t.id({
      required: false,
      description:
        'The organization of the key. Only the operator needs it: other keys create keys of their own organization.',
    }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('createApiKey', (t) =>
  t.field({
    type: CreateApiKeyPayload,
    description: 'Creates a key for the caller’s organization. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: CreateApiKeyInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: idempotentResolver('createApiKey', { needs: 'ADMIN', memory: keySerializer }, createApiKey),
  }),
)

const RevokeApiKeyInput = builder.inputType('RevokeApiKeyInput', {
  description: 'The key to revoke.',
  fields: (t) => ({
    id: t.id({ description: 'The key’s id.' }),
    force: t.boolean({
      required: false,
      description:
        'Whether to revoke the key even if it is the last one with scope ADMIN. After that, only the operator can create one.',
    }),
  }),
})

builder.mutationField('revokeApiKey', (t) =>
  t.field({
    type: ApiKey,
    description: 'Revokes a key of the caller’s organization immediately. Requires a key with scope ADMIN.',
    args: {
      input: t.arg({ type: RevokeApiKeyInput, required: false }),
      id: t.arg.id({ required: false, description: 'Instead of `input`: the key’s id.' }),
    },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, args, ctx) => {
      const { id, force } = inputOf<(typeof RevokeApiKeyInput)['$inferInput']>(args, ['id'])
      return revokeApiKey(ctx, id, { force: force === true })
    },
  }),
)
