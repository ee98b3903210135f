import type { DomainChallenge } from '../../account/domain.ts'
import { challengeOf, requestDomain } from '../../account/domain.ts'
import { Invalid, NotFound } from '../../errors.ts'
import type { CustomDomain } from '../../generated/prisma/client.ts'
import { DomainState } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { ownerOnly } from '../../graphql/owner.ts'
import { StatusPage } from './page.ts'

builder.enumType(DomainState, {
  name: 'DomainState',
  description: 'How far the proof of a page’s domain is. The page is served there only while it is PROVEN.',
  values: describedValues({
    PENDING: 'It was requested, and its proof was not found yet.',
    PROVEN: 'Its proof was found. It is checked again every six hours.',
    LOST: 'Its proof was missing for three days, or another organization has proven the domain by DNS.',
  }),
})

const DomainRecord = builder.objectRef<DomainChallenge['record']>('DomainRecord').implement({
  description: 'A TXT record that proves a domain.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The record’s full name.' }),
    value: t.exposeString('value', { description: 'The record’s value.' }),
  }),
})

const DomainFile = builder.objectRef<DomainChallenge['file']>('DomainFile').implement({
  description: 'A file at the domain’s own web server that proves it, instead of the record.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Where it is fetched from.' }),
    content: t.exposeString('content', { description: 'All that it holds.' }),
  }),
})

const PageDomain = builder.objectRef<CustomDomain>('PageDomain').implement({
  description: 'The domain of a page, and how far its proof is. For the organization only.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The host name.' }),
    state: t.expose('state', { type: DomainState, description: 'How far its proof is.' }),
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a check last found out whether it is proven.',
    }),
    record: t.field({
      type: DomainRecord,
      description: 'The TXT record that proves it. Keep it: it is checked again.',
      resolve: (domain) => challengeOf(domain).record,
    }),
    file: t.field({
      type: DomainFile,
      description: 'Proves it instead, while the domain still points to a web server of yours.',
      resolve: (domain) => challengeOf(domain).file,
    }),
  }),
})

const DOMAIN = 'The domain that was requested for the page; null: none. For the organization only.'

builder.prismaObjectFields('Organization', (t) => ({
  domain: t.field({
    type: PageDomain,
    nullable: true,
    description: DOMAIN,
    resolve: ({ id }, _args, { db }) => db.customDomain.findUnique({ where: { organizationId: id } }),
  }),
}))

builder.prismaObjectFields(StatusPage, (t) => ({
  domain: t.field({
    type: PageDomain,
    nullable: true,
    description: DOMAIN,
    authScopes: ({ id }, args, ctx) => ownerOnly({ organizationId: id }, args, ctx),
    resolve: ({ id }, _args, { db }) => db.customDomain.findUnique({ where: { organizationId: id } }),
  }),
}))

const RequestDomainInput = builder.inputType('RequestDomainInput', {
  description: 'The domain to serve a page under.',
  fields: (t) => ({
    pageId: t.id({ description: 'The page: the id of its organization.' }),
    domain: t.string({ description: 'A host name without a port, such as status.example.com.' }),
  }),
})

builder.mutationField('requestDomain', (t) =>
  t.field({
    type: PageDomain,
    description:
      'Requests a domain for a page, in place of the one it has. The answer says how to prove it; the page is served there once that is found. Request it again to have it checked at once. Needs a key with scope ADMIN.',
    args: { input: t.arg({ type: RequestDomainInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input }, ctx) => requestDomain(ctx, input),
  }),
)
