Subject: ${user} invites you

${user} invites you to become the user ${name}.

<#if comment?has_content>
${comment}

</#if>
Choose a password until ${until}:
${base}${path}
