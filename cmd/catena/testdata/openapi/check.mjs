// Prints what two validators find in a description of an API, and fails if they find anything.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';

const source = readFileSync(process.argv[2], 'utf8');
const problems = [];

const { valid, errors } = await new Validator().validate(JSON.parse(source));
if (!valid) problems.push(`schema: ${JSON.stringify(errors)}`);

// Addresses of the platform such as /upload/handlers/{name} and /upload/{batch}/info are ambiguous where a parameter has the
// value of a fixed segment. The specification of OpenAPI says that the fixed segment wins, and so it does.
const config = await createConfig({ extends: ['recommended'], rules: { 'no-ambiguous-paths': 'off' } });
for (const p of await lintFromString({ source, config })) {
  problems.push(`${p.severity} ${p.ruleId}: ${p.message} ${p.location?.[0]?.pointer ?? ''}`);
}

// What a response contains is always said.
const { paths } = JSON.parse(source);
for (const [path, methods] of Object.entries(paths)) {
  for (const [method, { responses }] of Object.entries(methods)) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const [type, { schema }] of Object.entries(content)) {
        if (!schema || Object.keys(schema).length === 0) problems.push(`${method} ${path} ${status} ${type}: no schema`);
      }
    }
  }
}

console.log(problems.slice(0, 50).join('\n'));
process.exitCode = problems.length > 0 ? 1 : 0;
