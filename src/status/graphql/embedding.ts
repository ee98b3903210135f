import { MAX_EMBED_ORIGINS, updatePageEmbedding } from '../../account/page/embedding.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { costs } from '../../graphql/document/cost.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { PAGE_VERSION, VERSION_READ } from '../../graphql/schema/version.ts'
import { builder } from './builder.ts'
import { StatusPage } from './page.ts'

builder.objectFields(StatusPage, (t) => ({
  embedOrigins: t.stringList({
    nullable: true,
    extensions: costs({ items: MAX_EMBED_ORIGINS }),
    description: 'The sites that may embed its status line. Visible to the organization only.',
    authScopes: ownerOnly,
    resolve: ({ embedOrigins }) => embedOrigins,
  }),
}))

const UpdatePageEmbeddingInput = builder.inputType('UpdatePageEmbeddingInput', {
  description: 'Which sites may embed the status line of a page from now on.',
  fields: (t) => ({
    pageId: t.id({ description: 'The id of the page, or of its organization for the first one.' }),
    origins: t.stringList({
      description: `Their origins, such as https://www.example.com, at most ${MAX_EMBED_ORIGINS}. Replaces the current list; empty: none.`,
    }),
    version: t.int({ ...VERSION_READ, description: PAGE_VERSION }),
  }),
})

builder.mutationField('updatePageEmbedding', (t) =>
  t.field({
    type: StatusPage,
    description: 'Sets which sites may embed the status line of a page. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: UpdatePageEmbeddingInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updatePageEmbedding(ctx, input),
  }),
)
