import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';

/** OpenAPI 3.1 from the same schemas that check requests. Must be registered before the routes. */
export async function installOpenApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'gpufleet',
        description: 'Diagnosis, safe repair and staged rollouts for NVIDIA GPU hosts at the edge.',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
    transform: (document) => {
      const { schema, url } = jsonSchemaTransform(document);
      return { schema: withoutLocalReferences(schema), url };
    },
  });
}

/**
 * A recursive schema (any JSON value) comes out as a reference to a definition that stays behind in its own document.
 * Any JSON value is what an empty schema says.
 */
function withoutLocalReferences<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === '$defs') return undefined;
    const reference = value !== null && typeof value === 'object' ? value.$ref : undefined;
    return typeof reference === 'string' && /schema\d+$/.test(reference) ? { description: 'any JSON value' } : value;
  });
}
