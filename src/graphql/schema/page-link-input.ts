import { builder } from './builder.ts'

/** A link on a page. */
export const PageLinkInput = builder.inputType('PageLinkInput', {
  description: 'A link on the page.',
  fields: (t) => ({
    label: t.string({ description: 'The text of the link.' }),
    url: t.string({ description: 'http or https.' }),
  }),
})
