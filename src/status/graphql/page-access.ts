import { canReadOrganization } from '../../core/access.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import type { PageToken } from '../../generated/prisma/client.ts'
import { PageAccessKind } from '../../generated/prisma/enums.ts'
import { costs, STATEMENT_COST } from '../../graphql/document/cost.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { PAGE_VERSION, VERSION_READ } from '../../graphql/schema/version.ts'
import type { CreatedPageToken, ShownAccess } from '../../people/page-access.ts'
import {
  createPageToken,
  MAX_DOMAINS,
  MAX_RANGES,
  MAX_TOKENS,
  pageTokens,
  readPageAccess,
  revokePageToken,
  updatePageAccess,
} from '../../people/page-access.ts'
import { builder } from './builder.ts'
import { StatusPage } from './page.ts'

builder.enumType(PageAccessKind, {
  name: 'PageAccessKind',
  description: 'Who may read a status page. Members of its organization and its read tokens always may.',
  values: describedValues({
    PUBLIC: 'Everybody.',
    PASSWORD: 'Anyone who knows its password.',
    MEMBERS: 'Only members of the organization, signed in on this service’s own host.',
    MAIL_DOMAIN: 'Anyone who opens a link mailed to an address of one of `mailDomains`.',
    ADDRESSES: 'Anyone who calls from one of the networks in `ranges`.',
  }),
})

const PageAccess = builder.objectRef<ShownAccess>('PageAccess').implement({
  description: 'Who may read a status page. Visible to the organization only.',
  fields: (t) => ({
    kind: t.expose('kind', { type: PageAccessKind, description: 'Who may read it.' }),
    mailDomains: t.stringList({
      extensions: costs({ items: MAX_DOMAINS }),
      description: 'The domains of email addresses that may read it, for MAIL_DOMAIN.',
      resolve: ({ mailDomains }) => mailDomains,
    }),
    ranges: t.stringList({
      extensions: costs({ items: MAX_RANGES }),
      description: 'The networks that may read it in CIDR notation, for ADDRESSES.',
      resolve: ({ ranges }) => ranges,
    }),
  }),
})

const PageTokenRef = builder.objectRef<PageToken>('PageToken').implement({
  description: 'A read token of a status page. The token itself is returned only once, on creation, and is not stored.',
  authScopes: ({ organizationId }, { actor }) => canReadOrganization(actor, organizationId),
  fields: (t) => ({
    id: t.exposeID('id', {}),
    name: t.exposeString('name', { description: 'The purpose of the token.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute. Null: never.',
    }),
  }),
})

builder.objectFields(StatusPage, (t) => ({
  access: t.field({
    type: PageAccess,
    nullable: true,
    description: 'Who may read the page. Visible to the organization only.',
    authScopes: ownerOnly,
    resolve: ({ id }, _args, ctx) => readPageAccess(ctx, id),
  }),
  tokens: t.field({
    type: [PageTokenRef],
    nullable: true,
    extensions: costs({ items: MAX_TOKENS, itself: STATEMENT_COST }),
    description: 'The read tokens of the page, newest first. Requires a key with scope ADMIN.',
    authScopes: ownerOnly,
    resolve: ({ id }, _args, ctx) => pageTokens(ctx, id),
  }),
}))

export const PageAccessInput = builder.inputType('PageAccessInput', {
  description: 'Who may read a page. Omitted fields stay as they are.',
  fields: (t) => ({
    kind: t.field({ type: PageAccessKind, description: 'Who may read it.' }),
    password: t.string({ required: false, description: 'For PASSWORD: 8 to 200 characters.' }),
    mailDomains: t.stringList({
      required: false,
      description: 'For MAIL_DOMAIN: domains such as example.com, at most 50. Subdomains are not included.',
    }),
    ranges: t.stringList({
      required: false,
      description: 'For ADDRESSES: networks such as 192.0.2.0/24 and 2001:db8::/32, or addresses, at most 100.',
    }),
  }),
})

const UpdatePageAccessInput = builder.inputType('UpdatePageAccessInput', {
  description: 'Who may read a page from now on.',
  fields: (t) => ({
    pageId: t.id({ description: 'The id of the page or of its organization.' }),
    access: t.field({ type: PageAccessInput, description: 'Who may read it.' }),
    version: t.int({ ...VERSION_READ, description: PAGE_VERSION }),
  }),
})

builder.mutationField('updatePageAccess', (t) =>
  t.field({
    type: PageAccess,
    description:
      'Changes who may read a page. Ends the access of all open browsers and connections at once; readers have to open the page again. Requires a key with scope ADMIN, or a person who entered their password or used their passkey in the last ten minutes.',
    args: { input: t.arg({ type: UpdatePageAccessInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updatePageAccess(ctx, input),
  }),
)

const CreatePageTokenPayload = builder.objectRef<CreatedPageToken>('CreatePageTokenPayload').implement({
  description: 'A new read token. It is shown only once.',
  fields: (t) => ({
    id: t.id({ resolve: ({ token }) => token.id }),
    secret: t.exposeString('secret', {
      description: 'The read token, for `Authorization: Bearer` or `?token=`. It is shown only once.',
    }),
    token: t.expose('token', { type: PageTokenRef, description: 'The stored token, without its secret.' }),
  }),
})

const CreatePageTokenInput = builder.inputType('CreatePageTokenInput', {
  description: 'The read token to create.',
  fields: (t) => ({
    pageId: t.id({ description: 'The id of the page or of its organization.' }),
    name: t.string({ description: 'The purpose of the token.' }),
  }),
})

builder.mutationField('createPageToken', (t) =>
  t.field({
    type: CreatePageTokenPayload,
    description:
      'Creates a token with which programs can read a private page, in GraphQL and as documents. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: CreatePageTokenInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => createPageToken(ctx, input),
  }),
)

const RevokePageTokenInput = builder.inputType('RevokePageTokenInput', {
  description: 'The read token to revoke.',
  fields: (t) => ({ id: t.id({ description: 'The id of the token.' }) }),
})

builder.mutationField('revokePageToken', (t) =>
  t.field({
    type: PageTokenRef,
    description: 'Revokes a read token at once and returns it. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: RevokePageTokenInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input }, ctx) => revokePageToken(ctx, input.id),
  }),
)
