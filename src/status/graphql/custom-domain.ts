import type { DomainChallenge } from '../../account/custom-domain/custom-domain.ts'
import { challengeOf, domainOfPage, removeDomain, requestDomain } from '../../account/custom-domain/custom-domain.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import type { CustomDomain } from '../../generated/prisma/client.ts'
import { DomainState } from '../../generated/prisma/enums.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { PAGE_VERSION, VERSION_READ } from '../../graphql/schema/version.ts'
import { builder } from './builder.ts'
import { StatusPage } from './page.ts'

builder.enumType(DomainState, {
  name: 'DomainState',
  description: 'The verification status of a page’s domain. The page is served there only while it is PROVEN.',
  values: describedValues({
    PENDING: 'Requested. The proof has not been found yet.',
    PROVEN: 'The proof was found. It is checked again every six hours.',
    LOST: 'The proof has been missing for three days, or another organization has proven the domain by DNS.',
  }),
})

const DomainRecord = builder.objectRef<DomainChallenge['record']>('DomainRecord').implement({
  description: 'A TXT record that proves ownership of a domain.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The record’s full name.' }),
    value: t.exposeString('value', { description: 'The record’s value.' }),
  }),
})

const DomainFile = builder.objectRef<DomainChallenge['file']>('DomainFile').implement({
  description: 'A file on the domain’s web server that proves ownership, as an alternative to the TXT record.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The URL of the file.' }),
    content: t.exposeString('content', { description: 'The exact content of the file.' }),
  }),
})

const PageDomain = builder.objectRef<CustomDomain>('PageDomain').implement({
  description: 'The custom domain of a page. Visible to the organization only.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The host name.' }),
    state: t.expose('state', { type: DomainState, description: 'The verification status.' }),
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the proof was last checked.',
    }),
    record: t.field({
      type: DomainRecord,
      description: 'The TXT record that proves ownership. Keep it in place: it is checked regularly.',
      resolve: (domain) => challengeOf(domain).record,
    }),
    file: t.field({
      type: DomainFile,
      description: 'An alternative to the TXT record, while the domain still points to your web server.',
      resolve: (domain) => challengeOf(domain).file,
    }),
  }),
})

const DOMAIN = 'The domain requested for the page. Null: none. Visible to the organization only.'

builder.prismaObjectFields('Organization', (t) => ({
  domain: t.field({
    type: PageDomain,
    nullable: true,
    description: DOMAIN,
    resolve: ({ pageId }, _args, ctx) => domainOfPage(ctx, pageId),
  }),
}))

builder.objectFields(StatusPage, (t) => ({
  domain: t.field({
    type: PageDomain,
    nullable: true,
    description: DOMAIN,
    authScopes: ownerOnly,
    resolve: ({ id }, _args, ctx) => domainOfPage(ctx, id),
  }),
}))

const RequestDomainInput = builder.inputType('RequestDomainInput', {
  description: 'The domain to serve a page under.',
  fields: (t) => ({
    pageId: t.id({ description: 'The id of the page or of its organization.' }),
    domain: t.string({ description: 'A host name without a port, such as status.example.com.' }),
    version: t.int({ ...VERSION_READ, description: PAGE_VERSION }),
  }),
})

builder.mutationField('requestDomain', (t) =>
  t.field({
    type: PageDomain,
    description:
      'Requests a domain for a page and replaces its current one. The result says how to prove ownership; the page is served there once the proof is found. Request it again to check at once. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: RequestDomainInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => requestDomain(ctx, input),
  }),
)

const RemoveDomainInput = builder.inputType('RemoveDomainInput', {
  description: 'The page whose domain is removed.',
  fields: (t) => ({
    pageId: t.id({ description: 'The id of the page or of its organization.' }),
    version: t.int({ ...VERSION_READ, description: PAGE_VERSION }),
  }),
})

builder.mutationField('removeDomain', (t) =>
  t.field({
    type: StatusPage,
    description: 'Removes the domain of a page and stops serving the page there. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: RemoveDomainInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => removeDomain(ctx, input),
  }),
)
