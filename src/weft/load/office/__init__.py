"""Office formats: zip packages of XML, electronic books, Rich Text Format."""
