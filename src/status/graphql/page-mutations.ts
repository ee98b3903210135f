import { Conflict, Invalid, ManagedByFile, NotFound, TierLimitReached } from '../../core/errors.ts'
import { UptimeSource } from '../../generated/prisma/enums.ts'
import { PageLinkInput } from '../../graphql/schema/page-link-input.ts'
import { VERSION_READ } from '../../graphql/schema/version.ts'
import type { DeletedPage } from '../page/page.ts'
import { createPage, deletePage, updatePage } from '../page/page.ts'
import { builder } from './builder.ts'
import { StatusPage } from './page.ts'
import { PageAccessInput } from './page-access.ts'

const CreatePageInput = builder.inputType('CreatePageInput', {
  description: 'The page to create. It inherits omitted parts of its look from the organization.',
  fields: (t) => ({
    slug: t.string({ description: 'Its name in URLs: lowercase letters, digits and single hyphens.' }),
    name: t.string({ description: 'The name that the page shows.' }),
    serviceIds: t.idList({
      required: false,
      description: 'The services that it shows, in this order. Default: all, including those created later.',
    }),
    description: t.string({ required: false, description: 'Its description.' }),
    accentColor: t.string({ required: false, description: 'The accent colour, as `#rrggbb`.' }),
    logoUrl: t.string({
      required: false,
      description: 'The https URL of the logo. Empty: none, even if the organization has one.',
    }),
    links: t.field({ type: [PageLinkInput], required: false, description: 'All links for visitors.' }),
    uptimeSource: t.field({
      type: UptimeSource,
      required: false,
      description: 'What counts towards the uptime of services.',
    }),
    access: t.field({ type: PageAccessInput, required: false, description: 'Who may read it. Default: everyone.' }),
  }),
})

builder.mutationField('createPage', (t) =>
  t.field({
    type: StatusPage,
    description:
      'Creates another status page of the organization. The number of pages depends on the tier. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: CreatePageInput }) },
    errors: { types: [Invalid, NotFound, Conflict, TierLimitReached] },
    resolve: (_root, { input }, ctx) => createPage(ctx, input),
  }),
)

const UpdatePageInput = builder.inputType('UpdatePageInput', {
  description:
    'The changes. Omitted fields stay as they are; a part of the look that is null is inherited from the organization. The settings of the first page are those of its organization.',
  fields: (t) => ({
    id: t.id({ description: 'The page to change.' }),
    slug: t.string({ required: false, description: 'Its name in URLs. URLs with the old name stop working.' }),
    name: t.string({ required: false, description: 'Its name.' }),
    serviceIds: t.idList({
      required: false,
      description: 'The services that it shows, in this order. Null: all, including those created later.',
    }),
    description: t.string({ required: false, description: 'Its description.' }),
    accentColor: t.string({ required: false, description: 'The accent colour, as `#rrggbb`.' }),
    logoUrl: t.string({
      required: false,
      description: 'The https URL of the logo. Null: that of the organization. Empty: none.',
    }),
    links: t.field({ type: [PageLinkInput], required: false, description: 'All links. Replaces the current list.' }),
    uptimeSource: t.field({
      type: UptimeSource,
      required: false,
      description: 'What counts towards the uptime of services.',
    }),
    access: t.field({
      type: PageAccessInput,
      required: false,
      description: 'Who may read it, as in `updatePageAccess`.',
    }),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('updatePage', (t) =>
  t.field({
    type: StatusPage,
    description: 'Changes a status page. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: UpdatePageInput }) },
    errors: { types: [Invalid, NotFound, Conflict, ManagedByFile] },
    resolve: (_root, { input }, ctx) => updatePage(ctx, input),
  }),
)

const DeletePagePayload = builder.objectRef<DeletedPage>('DeletePagePayload').implement({
  description: 'A deleted page, and what was deleted with it.',
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name', { description: 'Its name.' }),
    customDomain: t.exposeString('customDomain', {
      nullable: true,
      description: 'The domain that was requested for it. Null: none.',
    }),
    subscribers: t.exposeInt('subscribers', { description: 'How many subscribers it had.' }),
  }),
})

builder.mutationField('deletePage', (t) =>
  t.field({
    type: DeletePagePayload,
    description:
      'Deletes a status page with its domain and subscribers. Services, incidents and maintenance stay. The first page cannot be deleted. Requires a key with scope ADMIN.',
    args: { id: t.arg.id({ description: 'The page.' }) },
    errors: { types: [NotFound, Conflict, ManagedByFile] },
    resolve: (_root, { id }, ctx) => deletePage(ctx, id),
  }),
)
