"""What has room where: cases, radiators, coolers beside memory and slots."""
