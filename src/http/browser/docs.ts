/** Swagger UI, as its own script leaves it on the window. */
declare const SwaggerUIBundle: (options: { url: string; dom_id: string; deepLinking: boolean }) => void

SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true })
