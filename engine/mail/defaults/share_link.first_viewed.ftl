Subject: "${title}" was opened through a share link

Your deck "${title}" was viewed for the first time through the share link "${name!}", on ${time}.

${url}
