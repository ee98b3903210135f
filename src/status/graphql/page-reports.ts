import { updatePageReports } from '../../account/page/page-reports.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { PAGE_VERSION, VERSION_READ } from '../../graphql/schema/version.ts'
import { builder } from './builder.ts'
import { StatusPage } from './page.ts'

builder.objectFields(StatusPage, (t) => ({
  publishesReports: t.boolean({
    description: 'Whether its readers can read its monthly reports, at `/reports` below its address.',
    resolve: ({ publishesReports }) => publishesReports,
  }),
}))

const UpdatePageReportsInput = builder.inputType('UpdatePageReportsInput', {
  description: 'Who can read the monthly reports of a page from now on.',
  fields: (t) => ({
    pageId: t.id({ description: 'The id of the page, or of its organization for the first one.' }),
    published: t.boolean({ description: 'Whether readers of the page can read them, and not only members.' }),
    version: t.int({ ...VERSION_READ, description: PAGE_VERSION }),
  }),
})

builder.mutationField('updatePageReports', (t) =>
  t.field({
    type: StatusPage,
    description: 'Sets whether the readers of a page can read its monthly reports. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: UpdatePageReportsInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updatePageReports(ctx, input),
  }),
)
