/** Swagger UI, which its own script sets on the window. */
declare const SwaggerUIBundle: (options: {
  url: string
  dom_id: string
  deepLinking: boolean
  validatorUrl: null
}) => void

const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
follow()
dark.addEventListener('change', follow)

SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null })
